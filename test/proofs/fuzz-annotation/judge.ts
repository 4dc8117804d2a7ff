import type { Random } from '@bowline/machinery';
import { MAX_SECRETS } from '../../../operators/jasm/src/annotation/parse-pod-annotation.ts';
import type { PodAnnotation, SecretSyncRequest } from '../../../operators/jasm/src/annotation/secret-sync-request.ts';
import { ContentProblem } from '../../../operators/jasm/src/content/content-problem.ts';
import { secretData } from '../../../operators/jasm/src/content/secret-data.ts';
import { fittingPayload } from './fitting-payload.ts';

const MAX_MESSAGE = 1_500;

/** resultProblems returns what is wrong with a result, whatever the text was. */
export function resultProblems({ requests, problems }: PodAnnotation): string[] {
  const wrong: string[] = [];
  if (requests.length + problems.length === 0) wrong.push('neither a request nor a problem');
  if (requests.length > MAX_SECRETS) wrong.push(`${requests.length} requests`);
  if (new Set(requests.map(({ secretName }) => secretName)).size < requests.length)
    wrong.push('two requests for one Secret');
  for (const { message } of problems) {
    if (message === '' || message.length > MAX_MESSAGE * MAX_SECRETS)
      wrong.push(`a message has ${message.length} characters`);
    if (/[\p{Cc}\p{Surrogate}]/u.test(message))
      wrong.push(`a message has control characters: ${JSON.stringify(message)}`);
  }
  return wrong;
}

/** jsonProblems returns where a JSON text was read differently from JSON. */
export function jsonProblems(text: string, { requests }: PodAnnotation): string[] {
  const value = parsedJson(text);
  if (value === undefined || requests.length === 0) return [];
  const entries = (value as { secrets?: unknown[] }).secrets ?? [value];
  return requests.flatMap((request) => {
    const index = Number(/^secrets\[(\d+)\]$/.exec(request.field)?.[1] ?? 0);
    const entry = entries[index] as Partial<SecretSyncRequest>;
    const fields = ['provider', 'path', 'secretName', 'type', 'versionId', 'role', 'key'] as const;
    return fields
      .filter((field) => entry[field] !== undefined && entry[field] !== request[field])
      .map(
        (field) =>
          `${field} is ${JSON.stringify(entry[field])} in JSON, but was read as ${JSON.stringify(request[field])}`,
      );
  });
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** asAnnotation serializes a request as an annotation, with every field. */
export function asAnnotation(request: SecretSyncRequest): string {
  const { field: _, hash: __, refreshIntervalMs, keys, optionalKeys, ...fields } = request;
  return JSON.stringify({
    ...fields,
    refreshInterval: refreshIntervalMs === 0 ? '0' : `${refreshIntervalMs}ms`,
    keys: keys && Object.fromEntries(keys.map(({ target, source }) => [target, source])),
    optionalKeys: optionalKeys.length === 0 ? undefined : optionalKeys,
  });
}

/** SecretDataResult is the data of a Secret, or the problem. */
export type SecretDataResult = { readonly data?: Readonly<Record<string, string>>; readonly problem?: string };

/** dataFor returns the data that a request produces from a fitting secret. Only a template may reject one. */
export function dataFor(random: Random, request: SecretSyncRequest): SecretDataResult {
  const secret = {
    provider: request.provider,
    sourcePath: request.path,
    payload: fittingPayload(random, request),
    version: '1',
  };
  try {
    return { data: secretData(secret, request) };
  } catch (error) {
    if (!(error instanceof ContentProblem)) return { problem: `secretData throws ${String(error)}` };
    return request.template ? {} : { problem: `a fitting secret is rejected: ${error.message}` };
  }
}
