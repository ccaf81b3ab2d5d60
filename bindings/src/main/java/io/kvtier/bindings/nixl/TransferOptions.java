package io.kvtier.bindings.nixl;

/** How a transfer is made. */
public final class TransferOptions {
    /** No notification; adjacent descriptors may be merged. */
    public static final TransferOptions DEFAULT = new TransferOptions(new byte[0], false);

    private final byte[] notification;
    private final boolean keepDescriptorsApart;

    private TransferOptions(byte[] notification, boolean keepDescriptorsApart) {
        this.notification = notification;
        this.keepDescriptorsApart = keepDescriptorsApart;
    }

    /**
     * Returns these options with a message that the remote agent gets when the transfer is done.
     *
     * @throws IllegalArgumentException if the message is empty
     */
    public TransferOptions withNotification(byte[] message) {
        if (message.length == 0) {
            throw new IllegalArgumentException("a notification has at least 1 byte");
        }
        return new TransferOptions(message.clone(), keepDescriptorsApart);
    }

    /** Returns these options, but adjacent descriptors of a prepared transfer are not merged into larger ones. */
    public TransferOptions keepingDescriptorsApart() {
        return new TransferOptions(notification, true);
    }

    byte[] notification() {
        return notification;
    }

    boolean keepsDescriptorsApart() {
        return keepDescriptorsApart;
    }
}
