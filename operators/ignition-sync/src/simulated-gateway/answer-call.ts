import { isObject } from '@bowline/machinery';
import type { FolderScans, Load, LockRequest, ScannedFolder } from './folder-scans.ts';
import type { GatewayFaults } from './gateway-faults.ts';
import { INDEX_HEADERS, renderIndexPage } from './index-page.ts';

/** GatewayState is the state of a simulated gateway, from which calls are answered. */
export interface GatewayState {
  /** The name on its page; undefined if it has none. */
  readonly name: string | undefined;
  readonly state: 'STARTING' | 'COMMISSIONING' | 'RUNNING';
  readonly dataFolder: string;
  readonly faults: GatewayFaults;
  readonly scans: Readonly<Record<ScannedFolder, FolderScans>>;
  /** The latest first. */
  readonly loads: readonly Load[];
}

/** Call is a request to the gateway. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  /** Whether the API key of the gateway was sent. */
  readonly isAuthorized: boolean;
  readonly signal: AbortSignal;
}

/** Answer is the response to a call. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A text is sent as it is, everything else as JSON. */
  readonly body: unknown;
}

const VERSION = '8.3.0';
const SCAN = /^\/data\/api\/v1\/(scan|scan-lock)\/(projects|config)$/;

/** answerCall answers a call as a gateway does. */
export async function answerCall(call: Call, gateway: GatewayState): Promise<Answer> {
  const { method, path } = call;
  const open = method === 'GET' ? answerOpen(path, gateway) : undefined;
  if (open) return open;
  const scan = SCAN.exec(path);
  const list = method === 'GET' ? listed(path, gateway) : undefined;
  if (!scan && list === undefined) return { status: 404, body: { message: 'not found' } };
  if (!call.isAuthorized) return { status: 401, body: { message: 'unauthorized' } };
  if (!scan) return { status: 200, body: list };
  const scans = gateway.scans[scan[2] as ScannedFolder];
  if (method === 'GET') return { status: 200, body: scan[1] === 'scan' ? scans.status : scans.lockStatus };
  if (method !== 'POST') return { status: 405, body: { message: 'method not allowed' } };
  if (scan[1] === 'scan-lock') return await answerLock(call, scans);
  scans.request();
  return { status: 200, body: { message: 'queued' } };
}

/** What a gateway answers without an API key. */
function answerOpen(path: string, gateway: GatewayState): Answer | undefined {
  const { name, state, dataFolder, scans, loads } = gateway;
  if (path === '/StatusPing')
    return {
      status: 200,
      body: state === 'COMMISSIONING' ? { state: 'RUNNING', details: state } : { state },
    };
  if (path === '/system/gwinfo') {
    const text = `ContextStatus=${state};PlatformName=Ignition-simulated;Version=${VERSION};RedundancyStatus=Good`;
    return { status: state === 'RUNNING' ? 200 : 503, headers: { 'content-type': 'text/plain' }, body: text };
  }
  if (path !== '/') return undefined;
  const page = renderIndexPage({ name, state, dataFolder, projects: scans.projects.loaded.projects, loads });
  return { status: 200, headers: INDEX_HEADERS, body: page };
}

function listed(path: string, { state, faults, scans }: GatewayState): unknown {
  switch (path) {
    case '/data/api/v1/gateway-info':
      return { name: 'Ignition-simulated', version: VERSION, state };
    case '/data/api/v1/designers':
      return { items: faults.designers };
    case '/data/perspective/api/v1/sessions/':
      return { items: faults.sessions };
    case '/data/api/v1/projects/names':
      return scans.projects.loaded.projects.filter(({ problem }) => problem === '').map(({ name }) => name);
    default:
      return undefined;
  }
}

async function answerLock({ body, signal }: Call, scans: FolderScans): Promise<Answer> {
  const request = lockRequest(body);
  if (!request) return { status: 500, body: { message: 'the body is not a lock request' } };
  const isHeld = await scans.acquireLock(request, signal);
  return isHeld ? { status: 200, body: scans.lockStatus } : { status: 409, body: { message: 'the lock is held' } };
}

function lockRequest(body: string): LockRequest | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { acquireTimeout = 10, holdTimeout = 60 } = value;
  if (!isSeconds(acquireTimeout) || !isSeconds(holdTimeout)) return undefined;
  return { acquireTimeoutMs: acquireTimeout * 1000, holdTimeoutMs: holdTimeout * 1000 };
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 3600;
}
