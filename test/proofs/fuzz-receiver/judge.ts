import { createHmac } from 'node:crypto';
import { CR_ANNOTATIONS, REQUEST_SOURCES } from '../../../operators/ignition-sync/src/api/names.ts';
import { refNameProblem } from '../../../operators/ignition-sync/src/checks/ref-name.ts';
import type { WebhookResponse } from '../../../operators/ignition-sync/src/receiver/webhook-handler.ts';
import type { HostileRequest } from './hostile-request.ts';
import { type Mode, SECRETS, stateOf, type Write } from './receiver-modes.ts';

const STATUSES = [200, 202, 400, 401, 404, 405, 429];
const MAX_MESSAGE = 300;

/** Case is a request with everything it caused. */
export interface Case {
  readonly mode: Mode;
  readonly request: HostileRequest;
  readonly response: Pick<WebhookResponse, 'status' | 'body'> & {
    readonly headers: Readonly<Record<string, string | undefined>>;
  };
  readonly writes: readonly Write[];
  readonly errors: readonly string[];
}

/** problemsOf returns what is wrong with the response to a request, and with what was written. */
export function problemsOf(each: Case): string[] {
  return [...responseProblems(each), ...authenticationProblems(each), ...each.writes.flatMap(writeProblems)];
}

function responseProblems({ request, response, writes, errors }: Case): string[] {
  const { status, body, headers } = response;
  const problems = errors.map((error) => `logged an error: ${error}`);
  if (!STATUSES.includes(status)) problems.push(`the status is ${status}`);
  if (body.accepted !== (status === 202 || (status === 200 && body.ref !== undefined)))
    problems.push(`status ${status} with accepted: ${body.accepted}`);
  if ((body.message ?? '').length > MAX_MESSAGE) problems.push(`the message has ${body.message?.length} characters`);
  if (status === 405 && headers.allow !== 'POST') problems.push('405 without Allow');
  const retryAfter = Number(headers['retry-after']);
  if (status === 429 && !(retryAfter >= 1 && retryAfter <= 60)) problems.push(`429 with Retry-After ${retryAfter}`);
  if (writes.length !== (status === 202 ? 1 : 0)) problems.push(`${writes.length} writes with status ${status}`);
  const text = JSON.stringify(response);
  if (Object.values(SECRETS).some((secret) => text.includes(secret) && !String(body.ref).includes(secret)))
    problems.push('the response contains a secret');
  if (status === 202 && request.method !== 'POST') problems.push(`${request.method} was accepted`);
  return problems;
}

/** authenticationProblems compares the response with whether the request is authentic. */
function authenticationProblems({ mode, request, response, writes }: Case): string[] {
  const { status } = response;
  const name = nameIn(request.url);
  if (name === undefined || request.method !== 'POST') {
    const expected = name === undefined ? 404 : 405;
    return status === expected ? [] : [`${request.method} ${request.url.slice(0, 80)} has the status ${status}`];
  }
  if (status === 429) return [];
  const isEnabled = stateOf(name)?.isEnabled ?? false;
  const problems: string[] = [];
  if (!isAuthentic(mode, request, name)) {
    if (status !== 401) problems.push(`status ${status} for a request that is not authentic`);
    if (writes.length > 0) problems.push('a write without a valid signature');
    return problems;
  }
  if (status === 401) problems.push('401 for an authentic request');
  if (!isEnabled && status !== 404 && status !== 400) problems.push(`status ${status} for ${name}`);
  if (writes.some(({ key }) => key.namespace !== 'plant' || key.name !== name))
    problems.push('a write to another IgnitionSync');
  return problems;
}

/** nameIn returns the IgnitionSync that a URL names; undefined if its path is none of the receiver. */
function nameIn(url: string): string | undefined {
  const [, name] = /^\/webhook\/[a-z0-9]{1,63}\/([a-z0-9]{1,63})(?:\?|$)/s.exec(url) ?? [];
  return name;
}

/** isAuthentic decides independently of the receiver, and without any care for time. */
export function isAuthentic(mode: Mode, { headers, body }: HostileRequest, name: string): boolean {
  const state = stateOf(name);
  const isOwn = state?.isEnabled === true && state.hasSecretRef;
  const secrets = [mode.hasHmac ? SECRETS.hmac : undefined, isOwn && state.isReadable ? SECRETS.own : undefined];
  for (const secret of secrets) {
    if (secret === undefined) continue;
    const hex = createHmac('sha256', secret).update(body).digest('hex');
    const prefixed = [headers['x-hub-signature-256'], headers['x-hub-signature']];
    const signatures = prefixed.map((value) =>
      value?.startsWith('sha256=') ? value.slice(7).toLowerCase() : undefined,
    );
    if (signatures.includes(hex)) return true;
    if (headers['x-gitea-signature']?.toLowerCase() === hex) return true;
    if (headers['x-gitlab-token'] === secret) return true;
  }
  if (mode.hasToken && headers.authorization === `Bearer ${SECRETS.token}`) return true;
  return mode.allowUnauthenticated && !mode.hasHmac && !mode.hasToken && !isOwn;
}

/** writeProblems returns what is wrong with annotations that were written. */
function writeProblems({ annotations }: Write): string[] {
  const problems: string[] = [];
  const { requestedRef, requestedAt, requestedBy, requestedCommit, ...others } = CR_ANNOTATIONS;
  const names = Object.keys(annotations).sort().join();
  const forRef = [requestedRef, requestedAt, requestedBy].sort().join();
  if (names !== forRef && names !== [requestedCommit, requestedAt].sort().join()) problems.push(`writes ${names}`);
  if (Object.values(others).some((name) => name in annotations)) problems.push('writes an annotation of users');
  const ref = annotations[requestedRef];
  if (ref !== undefined && (refNameProblem(ref) !== undefined || ref.startsWith('refs/') || hasLoneSurrogate(ref)))
    problems.push(`writes the ref ${JSON.stringify(ref)}`);
  const by = annotations[requestedBy];
  if (by !== undefined && !(REQUEST_SOURCES as readonly string[]).includes(by)) problems.push(`requested by ${by}`);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(annotations[requestedAt] ?? '')) problems.push('writes another time');
  const commit = annotations[requestedCommit];
  if (commit !== undefined && (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(commit) || /^0+$/.test(commit)))
    problems.push(`writes the commit ${commit}`);
  return problems;
}

function hasLoneSurrogate(text: string): boolean {
  return Buffer.from(text).toString() !== text;
}
