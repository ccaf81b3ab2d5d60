package io.kvtier.cli;

import java.io.Console;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import org.jspecify.annotations.Nullable;

/** A progress bar on a terminal, nothing elsewhere. */
final class Progress implements AutoCloseable {
    private static final int STEP = 64;

    private final @Nullable ProgressBar bar;

    private Progress(@Nullable ProgressBar bar) {
        this.bar = bar;
    }

    static Progress start(String task, long steps, boolean wanted) {
        if (!wanted || !isTerminal()) {
            return new Progress(null);
        }
        return new Progress(new ProgressBarBuilder()
                .setTaskName(task)
                .setInitialMax(steps)
                .setUpdateIntervalMillis(200)
                .clearDisplayOnFinish()
                .build());
    }

    void done(long steps) {
        if (bar != null && steps % STEP == 0) {
            bar.stepTo(steps);
        }
    }

    @Override
    public void close() {
        if (bar != null) {
            bar.close();
        }
    }

    // Whether null can come depends on the JDK's console provider.
    @SuppressWarnings("SystemConsoleNull")
    private static boolean isTerminal() {
        Console console = System.console();
        return console != null && console.isTerminal();
    }
}
