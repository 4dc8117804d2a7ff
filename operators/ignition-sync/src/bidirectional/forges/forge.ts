import { isObject, type JsonObject } from '@bowline/machinery';
import { type ServerAccess, type ServerRequest, sendServerRequest } from '../../git/access/server-request.ts';
import { GitError } from '../../git/errors/git-error.ts';

/** FORGES are the kinds of forges with an API for pull requests. */
export const FORGES = ['github', 'gitlab', 'gitea'] as const;

/** ForgeKind is a kind of forge. */
export type ForgeKind = (typeof FORGES)[number];

/** PullRequest is an open pull request, called merge request by GitLab. */
export interface PullRequest {
  readonly number: number;
  /** Where users find it. */
  readonly url: string;
}

/** NewPullRequest describes a pull request to open. */
export interface NewPullRequest {
  readonly branch: string;
  /** The branch that it should be merged into. */
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
}

/** Forge opens pull requests in one repository. */
export interface Forge {
  /** findOpen returns the open pull request of a branch, or undefined. */
  findOpen(branch: string, base: string, signal?: AbortSignal): Promise<PullRequest | undefined>;
  /** open opens a pull request, with its labels. */
  open(request: NewPullRequest, signal?: AbortSignal): Promise<PullRequest>;
}

/** ForgeOptions describes a repository on a forge. */
export interface ForgeOptions extends ServerAccess {
  /** The address of the API, without a final slash. */
  readonly apiBaseUrl: string;
  /** Owner and name, such as `team/plant`; GitLab has groups in groups. */
  readonly project: string;
  readonly token: string;
}

/** A page of pull requests or labels. */
const MAX_BYTES = 4 * 1024 * 1024;

/** ForgeCall is one call of an API. */
export interface ForgeCall extends Pick<ServerRequest, 'method' | 'headers' | 'signal'> {
  /** Below the address of the API. */
  readonly path: string;
  readonly body?: JsonObject | undefined;
}

/** callForge calls the API of a forge and returns the parsed response. It throws a GitError without text of the server. */
export async function callForge(options: ForgeOptions, call: ForgeCall): Promise<unknown> {
  const { method, path, headers, body, signal } = call;
  const url = new URL(`${options.apiBaseUrl}${path}`);
  const { status, text } = await sendServerRequest(
    {
      method,
      url,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
      maxBytes: MAX_BYTES,
      remedy: 'check that bidirectional.forge is the kind of the Git server',
      signal,
    },
    options,
  );
  if (status < 200 || status > 299) throw statusError(status, url.host);
  try {
    return JSON.parse(text);
  } catch {
    throw unexpected(url.host);
  }
}

/** pullRequestIn returns a pull request from a response. It throws a GitError if the response has another form. */
export function pullRequestIn(
  value: unknown,
  fields: { readonly number: string; readonly url: string },
  host: string,
): PullRequest {
  const found = isObject(value) ? { number: value[fields.number], url: value[fields.url] } : undefined;
  if (typeof found?.number !== 'number' || typeof found.url !== 'string') throw unexpected(host);
  return { number: found.number, url: printable(found.url) };
}

/** listIn returns a list from a response. It throws a GitError if the response has another form. */
export function listIn(value: unknown, host: string): readonly unknown[] {
  if (!Array.isArray(value)) throw unexpected(host);
  return value;
}

/** hostOf returns the host of an API, for messages. */
export function hostOf({ apiBaseUrl }: ForgeOptions): string {
  return new URL(apiBaseUrl).host;
}

/** It is part of events. */
function printable(url: string): string {
  return /^https?:\/\/[\x21-\x7e]{1,500}$/.test(url) ? url : '';
}

function statusError(status: number, host: string): GitError {
  if (status === 401 || status === 403 || status === 404) {
    return new GitError('PushRefused', `${host} does not allow the token to open pull requests (status ${status})`, {
      host,
      remedy: 'use a token in git.auth that may write pull requests, or set createPR to false',
    });
  }
  if (status >= 300 && status < 400) {
    return new GitError('Redirected', `the API of ${host} redirects to another address`, {
      host,
      remedy: 'use the final address of the repository in git.repo',
    });
  }
  const isRefused = status === 400 || status === 409 || status === 422;
  return new GitError(
    isRefused ? 'GitFailed' : 'HostUnreachable',
    `${host} opened no pull request (status ${status})`,
    {
      host,
      remedy: isRefused ? 'check that git.ref is a branch of the repository; it is retried' : 'it is retried',
    },
  );
}

function unexpected(host: string): GitError {
  return new GitError('GitFailed', `the response of ${host} is not that of the API for pull requests`, {
    host,
    remedy: 'check that bidirectional.forge is the kind of the Git server',
  });
}
