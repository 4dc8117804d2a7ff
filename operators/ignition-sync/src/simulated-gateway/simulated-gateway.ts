import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  BowlineError,
  type Clock,
  createCertificateAuthority,
  issueCertificate,
  type JsonObject,
  systemClock,
  type Timer,
  untilAborted,
} from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { silentLog } from '@bowline/runtime/manager';
import { type Answer, answerCall, type GatewayState } from './answer-call.ts';
import { commission } from './commission.ts';
import { ControlSocket } from './control-socket.ts';
import { FolderScans, type Load, type ScannedFolder } from './folder-scans.ts';
import { ActiveFaults, type FaultChanges, type GatewayFaults, NO_FAULTS, readFaults } from './gateway-faults.ts';
import { Journal } from './journal.ts';

/** SimulatedGatewayOptions configures a simulated gateway. */
export interface SimulatedGatewayOptions {
  /** The data folder of the gateway, which must exist. */
  readonly dataFolder: string;
  /** The name on its page. Defaults to none. */
  readonly name?: string | undefined;
  /** The file with the API key that the gateway accepts. It is read for every call. */
  readonly apiKeyFile: string;
  /** The port on 127.0.0.1. Defaults to 0, any free port. */
  readonly port?: number | undefined;
  /** Whether it serves HTTPS. Defaults to true. */
  readonly tls?: boolean | undefined;
  /** The file to which calls and loads are appended. Defaults to none. */
  readonly journalFile?: string | undefined;
  /** The Unix socket through which faults are changed. Defaults to none. */
  readonly controlSocket?: string | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** Defaults to no log. */
  readonly log?: Log | undefined;
}

/** MAX_LOADS is the number of loads that are kept. */
export const MAX_LOADS = 20;
const MAX_BODY_BYTES = 64 * 1024;
const MAX_PATH_LENGTH = 1024;
const MAX_CONNECTIONS = 256;
const LIMITS = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 5_000 };

/**
 * SimulatedGateway behaves like an Ignition gateway of version 8.3 towards agents: it loads the projects and resources
 * in its data folder when it is requested to. It serves on 127.0.0.1 only.
 *
 * @example
 * await using gateway = new SimulatedGateway({ dataFolder, apiKeyFile });
 * await gateway.start();
 */
export class SimulatedGateway implements AsyncDisposable {
  readonly #options: SimulatedGatewayOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #journal: Journal;
  readonly #responses = new ActiveFaults();
  readonly #stopped = new AbortController();
  readonly #scans: Readonly<Record<ScannedFolder, FolderScans>>;
  readonly #active = new Set<Promise<void>>();
  #server: Server | undefined;
  #control: ControlSocket | undefined;
  #port = 0;
  #state: GatewayState['state'] = 'STARTING';
  #faults = NO_FAULTS;
  #loads: readonly Load[] = [];
  #automatic: Timer | undefined;
  /** Changes of faults are applied one after another: opening and closing the port takes time. */
  #changing: Promise<unknown> = Promise.resolve();

  constructor(options: SimulatedGatewayOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? silentLog;
    this.#journal = new Journal(options.journalFile, this.#log);
    const scans = (folder: ScannedFolder): FolderScans =>
      new FolderScans({
        folder,
        dataFolder: options.dataFolder,
        clock: this.#clock,
        faults: () => this.#faults,
        onLoad: (load) => this.#record(load),
        signal: this.#stopped.signal,
      });
    this.#scans = { projects: scans('projects'), config: scans('config') };
  }

  /** port is the port on which the gateway serves, after `start`. */
  get port(): number {
    return this.#port;
  }

  /** url is the address of the gateway, after `start`. */
  get url(): string {
    return `${this.#isSecure ? 'https' : 'http'}://127.0.0.1:${this.#port}`;
  }

  /** loads are the last loads, the latest first. */
  get loads(): readonly Load[] {
    return this.#loads;
  }

  /** faults are the current faults. */
  get faults(): GatewayFaults {
    return this.#faults;
  }

  /** start resolves when the gateway runs. On its first start in a data folder it is commissioned. */
  async start(): Promise<void> {
    const { dataFolder, controlSocket, port = 0 } = this.#options;
    if (!(await stat(dataFolder).catch(() => undefined))?.isDirectory())
      throw new BowlineError(
        'BOWLINE_IGNITION_SIMULATION',
        `cannot start a simulated gateway: ${dataFolder} is not a folder; create it`,
      );
    try {
      this.#server = await this.#createServer();
      await this.#listen(port);
      if (controlSocket !== undefined) {
        this.#control = new ControlSocket(controlSocket, async (changes) => await this.#change(changes));
        await this.#control.listen();
      }
      this.#state = 'COMMISSIONING';
      const isFirstStart = await commission(dataFolder);
      this.#state = 'STARTING';
      await Promise.all([this.#scans.projects.loadAtStart(), this.#scans.config.loadAtStart()]);
      this.#state = 'RUNNING';
      this.#write({ type: 'start', isFirstStart });
      this.#log.info('simulated gateway runs', { url: this.url, dataFolder, isFirstStart });
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** run starts the gateway and stops it when the signal is aborted. `onStarted` is called when it runs. */
  async run(signal: AbortSignal, onStarted: () => void = () => {}): Promise<void> {
    if (signal.aborted) return;
    await this.start();
    try {
      onStarted();
      await untilAborted(signal);
    } finally {
      await this.stop();
    }
  }

  /** stop resolves when nothing of the gateway runs any more. A gateway that was stopped cannot be started again. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#automatic?.cancel();
    await this.#control?.close();
    await this.#changing;
    await this.#closePort();
    await Promise.allSettled(this.#active);
    await Promise.all([this.#scans.projects.stop(), this.#scans.config.stop()]);
    await this.#journal.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** change changes faults, and returns all of them. It rejects with BOWLINE_IGNITION_SIMULATION if one is invalid. */
  async change(changes: FaultChanges): Promise<GatewayFaults> {
    return await this.#change(changes);
  }

  /** idle resolves when no scan is running or queued, and the journal is written. */
  async idle(): Promise<void> {
    await Promise.all([this.#scans.projects.idle(), this.#scans.config.idle()]);
    await this.#journal.flush();
  }

  get #isSecure(): boolean {
    return this.#options.tls ?? true;
  }

  #change(changes: JsonObject): Promise<GatewayFaults> {
    const changed = this.#changing.then(async () => {
      const before = this.#faults;
      const faults = readFaults({ ...before, ...changes });
      this.#faults = faults;
      if ('responses' in changes) this.#responses.use(faults.responses);
      if (faults.automaticScanMs !== before.automaticScanMs) this.#scheduleScan();
      if (faults.refuseConnections && !before.refuseConnections) await this.#closePort();
      if (!faults.refuseConnections && before.refuseConnections && !this.#stopped.signal.aborted)
        await this.#listen(this.#port);
      return faults;
    });
    this.#changing = changed.catch(() => undefined);
    return changed;
  }

  #scheduleScan(): void {
    this.#automatic?.cancel();
    const { automaticScanMs } = this.#faults;
    if (automaticScanMs === 0 || this.#stopped.signal.aborted) return;
    this.#automatic = this.#clock.setTimer(automaticScanMs, () => {
      for (const scans of Object.values(this.#scans)) scans.scanAutomatically();
      this.#scheduleScan();
    });
  }

  async #createServer(): Promise<Server> {
    const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
      const work = this.#answer(request, response);
      this.#active.add(work);
      void work.finally(() => this.#active.delete(work));
    };
    if (!this.#isSecure) return this.#limited(createHttpServer(LIMITS, onRequest));
    const authority = await createCertificateAuthority({ commonName: 'simulated Ignition gateway' });
    const { certificatePem: cert, keyPem: key } = await issueCertificate({
      authority,
      commonName: 'localhost',
      dnsNames: ['localhost'],
      ipAddresses: ['127.0.0.1'],
      usages: ['server'],
    });
    return this.#limited(createHttpsServer({ ...LIMITS, cert, key }, onRequest));
  }

  #limited(server: Server): Server {
    server.maxConnections = MAX_CONNECTIONS;
    // Without a listener, a connection that cannot be accepted would end the process.
    server.on('error', (error) => this.#log.warn('the simulated gateway could not accept a connection', { error }));
    return server;
  }

  async #listen(port: number): Promise<void> {
    const server = this.#server;
    if (!server) return;
    await new Promise<void>((resolve, reject) => {
      const onError = (cause: NodeJS.ErrnoException): void => {
        const code = cause.code === 'EADDRINUSE' ? 'BOWLINE_ADDRESS_IN_USE' : 'BOWLINE_ADDRESS_UNAVAILABLE';
        const message = `cannot listen on 127.0.0.1:${port} (${cause.code}); choose another port with --port`;
        reject(new BowlineError(code, message, { cause }));
      };
      server.once('error', onError);
      server.listen({ host: '127.0.0.1', port }, () => {
        server.off('error', onError);
        resolve();
      });
    });
    this.#port = (server.address() as AddressInfo).port;
  }

  async #closePort(): Promise<void> {
    const server = this.#server;
    if (!server?.listening) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = this.#clock.monotonic();
    const { method = 'GET' } = request;
    const [path = '/'] = (request.url ?? '/').slice(0, MAX_PATH_LENGTH).split('?', 1);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, this.#stopped.signal]);
    // A client that is gone needs no response; everything else is a defect of the simulation.
    response.on('error', () => response.destroy());
    try {
      const answer = await this.#answerOrFail(request, { method, path, signal });
      const durationMs = Math.round(this.#clock.monotonic() - startedAt);
      this.#write({ type: 'call', method, path, status: answer.status, durationMs });
      send(response, answer);
    } catch (error) {
      response.destroy();
      if (signal.aborted) return;
      this.#log.error('the simulated gateway failed to answer a call', { method, path, error });
    }
  }

  async #answerOrFail(
    request: IncomingMessage,
    { method, path, signal }: { readonly method: string; readonly path: string; readonly signal: AbortSignal },
  ): Promise<Answer> {
    const body = await readBody(request);
    if (body === undefined) return { status: 413, body: { message: 'the body is too large' } };
    const fault = this.#responses.take(method, path);
    if (fault && fault.latencyMs > 0) await this.#clock.sleep(fault.latencyMs, signal);
    if (fault?.status !== undefined) return { status: fault.status, body: { message: 'simulated fault' } };
    const isAuthorized = await this.#isAuthorized(request.headers['x-ignition-api-token']);
    const { name, dataFolder } = this.#options;
    const about = { name, state: this.#state, dataFolder };
    const gateway = { ...about, faults: this.#faults, scans: this.#scans, loads: this.#loads };
    return await answerCall({ method, path, body, isAuthorized, signal }, gateway);
  }

  async #isAuthorized(given: string | readonly string[] | undefined): Promise<boolean> {
    if (typeof given !== 'string') return false;
    const expected = (await readFile(this.#options.apiKeyFile, 'utf8').catch(() => '')).trim();
    return expected !== '' && timingSafeEqual(digest(expected), digest(given));
  }

  #record(load: Load): void {
    this.#loads = [load, ...this.#loads].slice(0, MAX_LOADS);
    this.#journal.write({ ...load, type: 'load' });
  }

  #write(entry: object): void {
    this.#journal.write({ time: new Date(this.#clock.now()).toISOString(), ...entry });
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Undefined if it is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return size > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  if (response.destroyed) return;
  const text = typeof body === 'string' ? body : `${JSON.stringify(body)}\n`;
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  response.end(text);
}
