// Apart from the log, which is above the settings that name these.

/** From few lines to many. Each level includes the ones before it. */
export const logLevels = ["off", "error", "warn", "info"] as const;
export type LogLevel = (typeof logLevels)[number];

/** One line an event: an object for programs, or words for people. */
export const logFormats = ["json", "text"] as const;
export type LogFormat = (typeof logFormats)[number];
