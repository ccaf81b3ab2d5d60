package io.kvtier.cli;

import java.util.List;
import tools.jackson.core.JsonGenerator;

/** One part of what the doctor looks at. */
interface Examination {
    /** Returns the part's name: its key in the JSON object and what {@code --require} asks for. */
    String name();

    /** Returns whether what {@code --require} asks for is there. */
    boolean available();

    /** Returns the lines of the table. */
    List<Finding> findings();

    /** Writes the part's value. */
    void write(JsonGenerator json);
}
