import { type Clock, isObject, systemClock } from '@bowline/machinery';
import { request } from 'undici';
import type { LfsObject, LfsSource } from '../../engine/sync/blob-source.ts';
import type { GitCredentials, GitProxy } from '../access/git-credentials.ts';
import { connectionError, sendServerRequest, serverDispatcher, USER_AGENT } from '../access/server-request.ts';
import type { GitUrl } from '../address/git-url.ts';
import { GitError } from '../errors/git-error.ts';

/** LfsOptions describes the repository whose large files are downloaded. */
export interface LfsOptions {
  readonly url: GitUrl;
  /** credentials is called for each object, because Secrets change. They are sent to the origin of the repository only. */
  readonly credentials: () => Promise<GitCredentials>;
  /** Certificate authorities (PEM) to trust instead of the system's. Defaults to the system's. */
  readonly ca?: string | undefined;
  /** Defaults to none. */
  readonly proxy?: GitProxy | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
}

const MEDIA_TYPE = 'application/vnd.git-lfs+json';
const MAX_BATCH_BYTES = 256 * 1024;
/** The longest time without data. */
const IDLE_MS = 60_000;
const MAX_HEADERS = 16;
const HEADER_NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/;
const HEADER_VALUE = /^[\x20-\x7e]{0,8192}$/;
/** Headers that belong to the connection, not to the sender of an object. */
const RESERVED = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'te', 'expect']);

/**
 * gitLfsSource downloads large files by the batch API of Git LFS: over HTTPS, and from the origin of the repository only, so that
 * neither a repository nor a server can send an agent, or its credentials, anywhere else. The engine verifies the content.
 *
 * An agent passes it as `lfs` of a SyncRequest when `git.lfs` is true, with the same address, credentials, authorities and proxy as
 * for fetches; without it, pointer files are refused.
 *
 * @example
 * const lfs = gitLfsSource({ url, credentials: () => readCredentials(files, metadata), ca, proxy });
 */
export function gitLfsSource(options: LfsOptions): LfsSource {
  const { clock = systemClock } = options;
  return { open: (object, signal) => download(object, { ...options, clock }, signal) };
}

interface Download {
  readonly href: URL;
  readonly headers: Readonly<Record<string, string>>;
}

type Known = LfsOptions & { readonly clock: Clock };

async function* download(object: LfsObject, options: Known, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const { clock } = options;
  const { href, headers } = await locate(object, options, signal);
  const idle = new AbortController();
  let timer = clock.setTimer(IDLE_MS, () => idle.abort());
  const dispatcher = serverDispatcher(options);
  const stopped = signal === undefined ? idle.signal : AbortSignal.any([signal, idle.signal]);
  try {
    const { statusCode, body } = await request(href, { headers, dispatcher, signal: stopped });
    if (statusCode !== 200) {
      // It is not read, and destroying it is no failure.
      body.on('error', () => undefined).destroy();
      throw statusError(statusCode, href.host, object);
    }
    let left = object.size;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      timer.cancel();
      timer = clock.setTimer(IDLE_MS, () => idle.abort());
      left -= chunk.length;
      if (left < 0) throw refused(options, `the object ${short(object)} is larger than its pointer says`);
      yield chunk;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof GitError ? error : connectionError(error, href.host, idle.signal.aborted ? IDLE_MS : 0);
  } finally {
    timer.cancel();
    await dispatcher.destroy();
  }
}

/** locate asks the server where an object is. */
async function locate(object: LfsObject, options: Known, signal: AbortSignal | undefined): Promise<Download> {
  const url = batchUrl(options.url);
  const authorization = authorizationOf(options.url, await options.credentials());
  const { oid, size } = object;
  const { status, text } = await sendServerRequest(
    {
      method: 'POST',
      url,
      headers: { accept: MEDIA_TYPE, 'content-type': MEDIA_TYPE, ...authorization },
      body: JSON.stringify({
        operation: 'download',
        transfers: ['basic'],
        objects: [{ oid, size }],
        hash_algo: 'sha256',
      }),
      maxBytes: MAX_BATCH_BYTES,
      remedy: 'check that the Git server supports Git LFS',
      signal,
    },
    options,
  );
  if (status !== 200) throw statusError(status, url.host, object);
  return downloadIn(text, object, options, authorization);
}

/** batchUrl returns the address of the batch API: below the address of the repository, which ends with .git. */
function batchUrl({ text, scheme, host }: GitUrl): URL {
  if (scheme === 'ssh')
    throw new GitError('ProtocolRefused', `files in Git LFS of ${host} are not available over SSH`, {
      host,
      remedy: 'use an https address in git.repo, exclude the files, or store them in Git',
    });
  const url = new URL(text);
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = `${path.endsWith('.git') ? path : `${path}.git`}/info/lfs/objects/batch`;
  url.username = '';
  return url;
}

function authorizationOf({ user }: GitUrl, credentials: GitCredentials): Readonly<Record<string, string>> {
  if (credentials.type !== 'token') return {};
  const { username = user || 'x-access-token', token } = credentials;
  return { authorization: `Basic ${Buffer.from(`${username}:${token.trim()}`).toString('base64')}` };
}

function downloadIn(
  text: string,
  object: LfsObject,
  options: Known,
  authorization: Readonly<Record<string, string>>,
): Download {
  const entry = entryIn(text, object, options);
  if (isObject(entry.error)) {
    const problem =
      entry.error.code === 404
        ? `does not have the object ${short(object)}`
        : `refuses the object ${short(object)} (code ${Number(entry.error.code) || 0})`;
    throw new GitError('CommitGone', `${options.url.host} ${problem}`, {
      host: options.url.host,
      remedy: 'push it with git lfs push --all',
    });
  }
  const actions = isObject(entry.actions) ? entry.actions : {};
  const action = isObject(actions.download) ? actions.download : {};
  const href = typeof action.href === 'string' && URL.canParse(action.href) ? new URL(action.href) : undefined;
  if (!href) throw refused(options, `no address of the object ${short(object)} was returned`);
  // Compared as parsed, so that no notation of a host passes for another.
  if (href.origin !== new URL(options.url.text).origin)
    throw refused(options, `the object ${short(object)} is at another origin (${href.protocol}//${href.host})`);
  href.username = '';
  href.password = '';
  return { href, headers: { 'user-agent': USER_AGENT, ...authorization, ...headersIn(action.header) } };
}

function entryIn(text: string, { oid, size }: LfsObject, options: Known): Readonly<Record<string, unknown>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  const objects: unknown = isObject(parsed) ? parsed.objects : undefined;
  const transfer: unknown = isObject(parsed) ? (parsed.transfer ?? 'basic') : undefined;
  const entry: unknown = Array.isArray(objects)
    ? objects.find((each) => isObject(each) && each.oid === oid)
    : undefined;
  if (transfer !== 'basic' || !isObject(entry) || (entry.error === undefined && entry.size !== size))
    throw refused(options, 'the response is not that of the batch API for this object');
  return entry;
}

/** headersIn returns the headers that the server wants for the download, which goes to the server itself. */
function headersIn(value: unknown): Readonly<Record<string, string>> {
  if (!isObject(value)) return {};
  const allowed = Object.entries(value).filter(
    ([name, text]) =>
      HEADER_NAME.test(name) &&
      !RESERVED.has(name.toLowerCase()) &&
      typeof text === 'string' &&
      HEADER_VALUE.test(text),
  );
  return Object.fromEntries(allowed.slice(0, MAX_HEADERS).map(([name, text]) => [name.toLowerCase(), String(text)]));
}

function statusError(status: number, host: string, object: LfsObject): GitError {
  if (status >= 300 && status < 400)
    return new GitError('Redirected', `${host} redirects a download of Git LFS to another address`, {
      host,
      remedy: 'let the Git server serve its large files itself, or store them in Git',
    });
  if (status === 401 || status === 403)
    return new GitError('AuthenticationFailed', `${host} refused a download of Git LFS with status ${status}`, {
      host,
      remedy: 'use credentials in git.auth that may read large files',
    });
  if (status === 404)
    return new GitError('CommitGone', `${host} does not have the object ${short(object)}, or no Git LFS`, {
      host,
      remedy: 'enable Git LFS for the repository and push its objects',
    });
  return new GitError('HostUnreachable', `${host} answered a request of Git LFS with status ${status}`, {
    host,
    remedy: 'it is retried',
  });
}

function refused({ url: { host } }: Known, problem: string): GitError {
  const remedy = 'let the Git server serve its large files itself, or store them in Git';
  return new GitError('ProtocolRefused', `${host}: ${problem}`, { host, remedy });
}

function short({ oid }: LfsObject): string {
  return oid.slice(0, 12);
}
