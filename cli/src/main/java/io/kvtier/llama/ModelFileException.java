package io.kvtier.llama;

import java.io.IOException;

/** A model or tokenizer file whose content does not follow its format; the message begins with the file's name. */
public final class ModelFileException extends IOException {
    private static final long serialVersionUID = 1L;

    ModelFileException(String file, String problem) {
        super(file + ": " + problem);
    }

    ModelFileException(String file, IllegalArgumentException cause) {
        super(file + ": " + cause.getMessage(), cause);
    }
}
