package io.kvtier.cli;

/**
 * One line of the doctor's table.
 *
 * @param topic what was looked at
 * @param fact what was found
 * @param good whether nothing is missing
 * @param advice one sentence of what to do, empty if there is nothing to do
 */
record Finding(String topic, String fact, boolean good, String advice) {
    static Finding good(String topic, String fact) {
        return new Finding(topic, fact, true, "");
    }

    static Finding missing(String topic, String fact, String advice) {
        return new Finding(topic, fact, false, advice);
    }
}
