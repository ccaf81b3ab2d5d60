package io.kvtier.bindings.nixl;

/** A message from another agent. */
public final class Notification {
    private final String from;
    private final byte[] message;

    Notification(String from, byte[] message) {
        this.from = from;
        this.message = message;
    }

    /** Returns the name of the agent that sent it. */
    public String from() {
        return from;
    }

    /** Returns a copy of the bytes. */
    public byte[] message() {
        return message.clone();
    }
}
