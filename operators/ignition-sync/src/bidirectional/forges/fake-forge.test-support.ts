import type { IncomingMessage } from 'node:http';
import { type Answer, startLoopbackServer } from '../../testing/loopback-server.test-support.ts';
import type { ForgeKind } from './forge.ts';

/** FakeForge answers the calls of one forge's API, with the recorded shapes of its responses. */
export interface FakeForge {
  readonly requests: { readonly call: string; readonly body: unknown; readonly headers: IncomingMessage['headers'] }[];
  /** The open pull requests, by branch. */
  readonly open: Map<string, { readonly number: number; readonly base: string; labels: unknown }>;
  /** The status of all further responses; undefined: none fails. */
  failWith: number | undefined;
  /** answer responds to a call. */
  readonly answer: Answer;
}

/** FakeForgeOptions configures a fake forge. */
export interface FakeForgeOptions {
  /** The path of the API. Defaults to none. */
  readonly prefix?: string;
  /** The token that it accepts. Defaults to FORGE_TOKEN. */
  readonly token?: string;
}

/** ServedForge is a fake forge with a server of its own. */
export interface ServedForge extends FakeForge, AsyncDisposable {
  readonly apiBaseUrl: string;
  readonly host: string;
}

/** TOKEN is the token that fake forges accept. */
export const FORGE_TOKEN = 'forge-canary';
const LABELS = [
  { id: 11, name: 'gateway', color: 'fff' },
  { id: 12, name: 'other', color: '000' },
];

/**
 * fakeForge answers the API of a forge for the project team/plant. The shapes are those of the documentation of the REST APIs:
 * GitHub "Pulls" (2022-11-28), GitLab "Merge requests API" (v4) and Gitea's swagger (1.22), reduced to the fields that are used.
 */
export function fakeForge(kind: ForgeKind, { prefix = '', token = FORGE_TOKEN }: FakeForgeOptions = {}): FakeForge {
  const forge: FakeForge = {
    requests: [],
    open: new Map(),
    failWith: undefined,
    answer: (request, response, sent) => {
      const text = sent.toString();
      const body: Record<string, unknown> = text === '' ? {} : JSON.parse(text);
      const url = (request.url ?? '').slice(prefix.length);
      forge.requests.push({ call: `${request.method} ${url}`, body, headers: request.headers });
      const respond = (status: number, value: unknown): void => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      };
      if (forge.failWith !== undefined) return respond(forge.failWith, { message: `bad ${token}` });
      if (!isAuthorized(kind, token, request.headers)) return respond(401, { message: 'Bad credentials' });
      const known = ROUTES[kind](forge, request.method ?? '', new URL(url, 'http://forge'), body);
      return known === undefined ? respond(404, { message: 'Not Found' }) : respond(...known);
    },
  };
  return forge;
}

/** startFakeForge serves a fake forge. */
export async function startFakeForge(kind: ForgeKind): Promise<ServedForge> {
  const forge = fakeForge(kind);
  const server = await startLoopbackServer(forge.answer);
  const host = `127.0.0.1:${server.port}`;
  return Object.assign(forge, {
    apiBaseUrl: `http://${host}`,
    host,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  });
}

type Route = (
  forge: FakeForge,
  method: string,
  url: URL,
  body: Record<string, unknown>,
) => readonly [number, unknown] | undefined;

function add(forge: FakeForge, branch: unknown, base: unknown, labels: unknown): number {
  const number = forge.open.size + 7;
  forge.open.set(String(branch), { number, base: String(base), labels });
  return number;
}

const web = (number: number): string => `https://forge.example.com/team/plant/pulls/${number}`;
const pull = (number: number, head: string, base: string) => ({
  number,
  state: 'open',
  html_url: web(number),
  head: { ref: head, label: `team:${head}` },
  base: { ref: base },
});

const ROUTES: Readonly<Record<ForgeKind, Route>> = {
  github: (forge, method, { pathname, searchParams }, body) => {
    if (pathname === '/repos/team/plant/pulls' && method === 'GET') {
      const branch = searchParams.get('head')?.replace(/^team:/, '') ?? '';
      const found = forge.open.get(branch);
      const isOpen = searchParams.get('state') === 'open' && found?.base === searchParams.get('base');
      return [200, found && isOpen ? [pull(found.number, branch, found.base)] : []];
    }
    if (pathname === '/repos/team/plant/pulls' && method === 'POST') {
      if (forge.open.has(String(body.head))) return [422, { message: 'Validation Failed' }];
      return [201, pull(add(forge, body.head, body.base, []), String(body.head), String(body.base))];
    }
    const [, number] = /^\/repos\/team\/plant\/issues\/(\d+)\/labels$/.exec(pathname) ?? [];
    const found = [...forge.open.values()].find((each) => String(each.number) === number);
    if (method !== 'POST' || !found) return undefined;
    found.labels = body.labels;
    return [200, []];
  },
  gitlab: (forge, method, { pathname, searchParams }, body) => {
    if (pathname !== '/projects/team%2Fplant/merge_requests') return undefined;
    if (method === 'GET') {
      const found = forge.open.get(searchParams.get('source_branch') ?? '');
      const isOpen = searchParams.get('state') === 'opened' && found?.base === searchParams.get('target_branch');
      return [200, found && isOpen ? [{ id: 900, iid: found.number, web_url: web(found.number) }] : []];
    }
    const number = add(forge, body.source_branch, body.target_branch, String(body.labels ?? '').split(','));
    return [201, { id: 900, iid: number, state: 'opened', web_url: web(number) }];
  },
  gitea: (forge, method, { pathname, searchParams }, body) => {
    if (pathname === '/repos/team/plant/labels') return [200, searchParams.get('page') === '1' ? LABELS : []];
    if (pathname !== '/repos/team/plant/pulls') return undefined;
    if (method === 'POST') {
      const names = LABELS.filter(({ id }) => (body.labels as number[]).includes(id)).map(({ name }) => name);
      return [201, pull(add(forge, body.head, body.base, names), String(body.head), String(body.base))];
    }
    return [200, [...forge.open].map(([branch, { number, base }]) => pull(number, branch, base))];
  },
};

function isAuthorized(kind: ForgeKind, token: string, headers: IncomingMessage['headers']): boolean {
  if (kind === 'gitlab') return headers['private-token'] === token;
  return headers.authorization === `${kind === 'github' ? 'Bearer' : 'token'} ${token}`;
}
