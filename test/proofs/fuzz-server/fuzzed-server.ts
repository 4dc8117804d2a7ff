import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type EmbeddedControlPlane, startControlPlane } from '@bowline/control-plane';
import type { Random } from '@bowline/machinery';
import type { Transport } from '@bowline/runtime/client';
import type { HostileRequest } from './hostile-request.ts';
import { chance } from './hostile-texts.ts';
import { problemOf, type ResponseText } from './judge.ts';
import { WatchedStream } from './watched-stream.ts';
import { isWatchResponse, Wire, type WireResponse } from './wire.ts';

/** The maximum time for a response. Only processor time counts: other programs may run on this machine. */
const MAX_CPU_MS = 1_500;
const MAX_WAIT_MS = 20_000;
const MAX_WATCHES = 8;
/** The fraction of requests sent over HTTPS: each costs a handshake. */
const WIRE_FRACTION = 0.05;
/** The fraction of watches over HTTPS that are not read. */
const UNREAD_FRACTION = 0.5;

/** Way is how a request reaches the server. */
export type Way = 'in process' | 'HTTP/1.1' | 'HTTP/2';

/** FuzzedServer is an embedded control plane in this process that gets arbitrary requests, mostly without a socket. */
export class FuzzedServer implements AsyncDisposable {
  readonly #controlPlane: EmbeddedControlPlane;
  readonly #admin: Transport;
  readonly #wire: Wire;
  readonly #bugs: unknown[];
  readonly #watches: Pick<WatchedStream, 'problems' | 'close'>[] = [];
  /** The maximum processor time of a response in milliseconds, and its request. */
  slowest = { cpuMs: 0, family: '' };
  readonly statuses: Record<string, number> = {};
  /** The number of requests over HTTPS, and how many of those, all malformed, the server disconnected. */
  readonly wire = { requests: 0, cutOff: 0 };

  private constructor(controlPlane: EmbeddedControlPlane, admin: Transport, wire: Wire, bugs: unknown[]) {
    this.#controlPlane = controlPlane;
    this.#admin = admin;
    this.#wire = wire;
    this.#bugs = bugs;
  }

  static async start(): Promise<FuzzedServer> {
    const bugs: unknown[] = [];
    const controlPlane = await startControlPlane({
      kind: 'embedded',
      workloads: false,
      scheduler: false,
      nodes: 0,
      onError: (error) => bugs.push(error),
    });
    const { clusters, users } = await controlPlane.kubeconfig('admin');
    const { user } = users[0];
    const wire = new Wire({
      url: controlPlane.url,
      authority: Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString(),
      token: 'token' in user ? user.token : '',
    });
    return new FuzzedServer(controlPlane, await controlPlane.transport('admin'), wire, bugs);
  }

  /** sendAsAdmin sends a request that must get a response, and returns the response. */
  async sendAsAdmin(
    method: string,
    path: string,
    body?: unknown,
    contentType = 'application/json',
  ): Promise<ResponseText> {
    const content = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const headers = { 'content-type': contentType, accept: 'application/json' };
    const response = await this.#admin.request({ method: method as 'GET', path, headers, lane: 'call', ...content });
    return {
      status: response.status,
      contentType: response.headers['content-type'] ?? '',
      text: await response.text(),
    };
  }

  /** requestOver is `sendAsAdmin` over HTTPS. */
  async requestOver(
    way: Way,
    method: string,
    path: string,
    body?: unknown,
    contentType = 'application/json',
  ): Promise<ResponseText> {
    if (way === 'in process') return await this.sendAsAdmin(method, path, body, contentType);
    const content = typeof body === 'string' ? body : JSON.stringify(body);
    const headers = { 'content-type': contentType, accept: 'application/json' };
    const request = { family: 'limit', method, path, headers, body: content };
    const signal = AbortSignal.timeout(MAX_WAIT_MS);
    const wireResponse = await (way === 'HTTP/2'
      ? this.#wire.http2(request, signal)
      : this.#wire.sound(request, signal));
    return {
      status: wireResponse.status,
      contentType: wireResponse.headers['content-type'] ?? '',
      text: wireResponse.text ?? '',
    };
  }

  /** attack sends a request, sometimes over HTTPS, and returns everything that is wrong with the response. */
  async attack(random: Random, request: HostileRequest): Promise<string[]> {
    const problems: string[] = [];
    const gone = new AbortController();
    const began = process.cpuUsage();
    // The server's own timers do not keep the process alive.
    const timer = setTimeout(() => gone.abort(new Error(`no response within ${MAX_WAIT_MS} ms`)), MAX_WAIT_MS);
    const isWire = chance(random, WIRE_FRACTION);
    try {
      const wireResponse = isWire
        ? await this.#wire.send(random, request, gone.signal)
        : await this.#inProcess(request, gone.signal);
      if (isWire) this.wire.requests++;
      if (wireResponse === undefined) this.wire.cutOff++;
      else this.#judge(wireResponse, request, { gone, problems, isRead: !isWire || !chance(random, UNREAD_FRACTION) });
    } catch (error) {
      problems.push(`no response${isWire ? ' over HTTPS' : ''}: ${String(error)}`);
    } finally {
      clearTimeout(timer);
    }
    const { user, system } = process.cpuUsage(began);
    const cpuMs = Math.round((user + system) / 1_000);
    if (cpuMs > this.slowest.cpuMs) this.slowest = { cpuMs, family: request.family };
    if (cpuMs > MAX_CPU_MS) problems.push(`took ${cpuMs} ms of processor time`);
    for (const bug of this.#bugs.splice(0)) problems.push(`failed: ${bug instanceof Error ? bug.stack : String(bug)}`);
    return problems;
  }

  async #inProcess({ method, path, headers, body }: HostileRequest, signal: AbortSignal): Promise<WireResponse> {
    const content = body === undefined ? {} : { body };
    const response = await this.#admin.request({
      method: method as 'GET',
      path,
      headers,
      lane: 'call',
      signal,
      ...content,
    });
    return isWatchResponse(response, path)
      ? { ...response, text: undefined, stream: response.body }
      : { ...response, text: await response.text() };
  }

  #judge(
    { status, headers, text, stream }: WireResponse,
    { method, path }: HostileRequest,
    {
      gone,
      problems,
      isRead,
    }: { readonly gone: AbortController; readonly problems: string[]; readonly isRead: boolean },
  ): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    if (text === undefined) {
      const unread = { problems: [], close: () => gone.abort() };
      this.#watch(stream && isRead ? new WatchedStream(stream, gone, path) : unread);
      return;
    }
    // A response to HEAD has no body.
    if (method === 'HEAD' && text === '') return;
    const problem = problemOf({ status, contentType: headers['content-type'] ?? '', text });
    if (problem !== undefined) problems.push(problem);
  }

  /** The oldest watch is closed when there are too many. */
  #watch(stream: Pick<WatchedStream, 'problems' | 'close'>): void {
    this.#watches.push(stream);
    if (this.#watches.length > MAX_WATCHES) this.#watches.shift()?.close();
  }

  /** watchProblems returns the invalid events of open watches. */
  watchProblems(): string[] {
    return this.#watches.flatMap((watch) => watch.problems.splice(0));
  }

  /** heapBytes returns the used heap after garbage collection. */
  async heapBytes(): Promise<number> {
    await this.#controlPlane.faults.compact();
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    return process.memoryUsage().heapUsed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const watch of this.#watches) watch.close();
    this.#wire[Symbol.dispose]();
    await this.#admin.close();
    await this.#controlPlane.stop();
  }
}
