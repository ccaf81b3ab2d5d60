package io.kvtier.trace;

/** The kinds of pieces of a RAGPulse prompt, in the order they follow one another in it. */
enum PieceKind {
    SYS_PROMPT(1, "sys_prompt", "sys_prompt_id", "1_sys_prompt.jsonl"),
    PASSAGES(2, "passages_ids", "passage_id", "2_passages.jsonl"),
    HISTORY(3, "history", "history_id", "3_history.jsonl"),
    WEB_SEARCH(5, "web_search", "web_search_id", "5_web_search.jsonl"),
    USER_INPUT(4, "user_input", "user_input_id", "4_user_input.jsonl");

    /** Number of the side file. */
    final int file;

    /** Field of a request. */
    final String field;

    /** Field of the side file that holds a piece's id. */
    final String idField;

    /** Name of the side file with the lengths, when it is not packed. */
    final String fileName;

    PieceKind(int file, String field, String idField, String fileName) {
        this.file = file;
        this.field = field;
        this.idField = idField;
        this.fileName = fileName;
    }

    static PieceKind ofFile(int file) {
        for (PieceKind kind : values()) {
            if (kind.file == file) {
                return kind;
            }
        }
        throw new IllegalArgumentException("no side file has the number " + file);
    }
}
