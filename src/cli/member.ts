import type { EnvironmentVariables } from "../config.ts";

/** Set for each of several processes at one address: its number, from 0. They share the port. */
export const memberVariable = "SUPERVISOR_MEMBER";

export const isMember = (env: EnvironmentVariables) => env[memberVariable] !== undefined;

/** Set for a process that starts beside others: it may not change the store under them. */
export const joinsVariable = "SUPERVISOR_JOINS";

export const joins = (env: EnvironmentVariables) => env[joinsVariable] !== undefined;

/** True for a process that serves alone, and for the first of several: it warns for all. */
export const warns = (env: EnvironmentVariables) => ["0", undefined].includes(env[memberVariable]);
