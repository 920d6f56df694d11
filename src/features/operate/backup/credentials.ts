/** The credentials of a bucket: all of them from one place, because a token belongs to its key. */
import type { EnvironmentVariables, LoadedConfig } from "../../../config.ts";
import { AppError } from "../../../domain/errors.ts";
import { textIn } from "./encryption.ts";
import { backupSettings } from "../settings.ts";

/** How a bucket is reached. */
export interface BucketAccess {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const [keyId, secret, token] = [
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
] as const;

/**
 * Those of `--backup-credentials` alone, if it is set; else the variables of AWS, or the file that
 * they name. A command on this machine's service takes the variables that the service has.
 */
export function bucketAccess(loaded: LoadedConfig, env: EnvironmentVariables): BucketAccess {
  const variables = variablesOf(loaded, env);
  const given = loaded.valueOf(backupSettings.credentials);
  const isInVariables = variables[keyId] !== undefined || variables[secret] !== undefined;
  const file =
    given ?? (isInVariables ? undefined : variables["AWS_SHARED_CREDENTIALS_FILE"] || undefined);
  const name = variables["AWS_PROFILE"] ?? "default";
  const profile = file === undefined ? undefined : readProfile(file, name);
  const value = (variable: string) =>
    profile === undefined ? variables[variable] : profile[variable.toLowerCase()];
  const [accessKeyId, secretAccessKey, sessionToken] = [value(keyId), value(secret), value(token)];
  if (!accessKeyId || !secretAccessKey) throw noCredentials(file, name);
  const region =
    profile?.["region"] ??
    variables["AWS_REGION"] ??
    variables["AWS_DEFAULT_REGION"] ??
    "us-east-1";
  const endpoint =
    profile?.["endpoint_url"] ??
    variables["AWS_ENDPOINT_URL_S3"] ??
    variables["AWS_ENDPOINT_URL"] ??
    `https://s3.${region}.amazonaws.com`;
  if (!/^https?:\/\/[^/]/.test(endpoint) || !URL.canParse(endpoint)) {
    throw new AppError("invalid_request", "The endpoint of the bucket is not an address.", {
      hint: "Set AWS_ENDPOINT_URL, or endpoint_url in the file, such as https://s3.example.org.",
    });
  }
  return { endpoint, region, accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

const isOfAws = (name: string) => name.startsWith("AWS_");
const chooses = [keyId, secret, "AWS_SHARED_CREDENTIALS_FILE", "AWS_PROFILE"];

/** The variables of this process, or those of the service where this process has none. */
function variablesOf({ service }: LoadedConfig, env: EnvironmentVariables): EnvironmentVariables {
  if (service === undefined || chooses.some((name) => env[name] !== undefined)) return env;
  return Object.fromEntries([...service.variables].filter(([name]) => isOfAws(name)));
}

function noCredentials(file: string | undefined, profile: string): AppError {
  if (file === undefined) {
    return new AppError("invalid_request", "There are no credentials for the bucket.", {
      hint: "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or --backup-credentials FILE.",
    });
  }
  return new AppError("invalid_request", `${file} has no key and secret of [${profile}].`, {
    hint: "It needs aws_access_key_id and aws_secret_access_key there; AWS_PROFILE names another one.",
  });
}

function readProfile(file: string, profile: string): Record<string, string> {
  const values: Record<string, string> = {};
  let section = profile;
  for (const line of textIn(file).split(/\r?\n/)) {
    const [, heading] = /^\s*\[\s*(?:profile\s+)?(.+?)\s*\]/.exec(line) ?? [];
    section = heading ?? section;
    const [, key, value] = /^\s*([A-Za-z_]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (section === profile && key !== undefined && value !== undefined) {
      values[key.toLowerCase()] = value;
    }
  }
  return values;
}
