import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { connect, connectionFrom, parseKubeconfig } from '@bowline/runtime/client';
import { startTestServer } from '../../in-process.test-support.ts';

/**
 * Step is one request. Texts may contain NS for the namespace and OWN for the name prefix of cluster-scoped objects.
 */
export type Step = readonly [
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>> | undefined,
];

/** Case is a sentence about behavior and the requests that demonstrate it. */
export type Case = readonly [sentence: string, ...steps: [Step, ...Step[]]];

/** MERGE holds the headers of a merge patch, DRY the query of a dry run. */
export const MERGE = { 'content-type': 'application/merge-patch+json' };
export const DRY = '?dryRun=All';

/** table returns a step that requests a table. */
export function table(path: string): Step {
  return ['GET', path, undefined, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }];
}

/** StepResponse holds the response of a server to a step, without the values that differ between servers. */
export interface StepResponse {
  readonly code: number;
  readonly warning?: string | undefined;
  readonly body: unknown;
}

/** BothServers holds a real server and one of ours, with the same built-in kinds. The real server is the reference. */
export interface BothServers extends AsyncDisposable {
  /** sendToBoth sends a step to both servers. */
  sendToBoth(step: Step): Promise<{ readonly real: StepResponse; readonly ours: StepResponse }>;
}

type Send = (...step: Step) => Promise<{ readonly code: number; readonly warning: string | undefined; text: string }>;

/** CompareOptions configures what is compared. */
export interface CompareOptions {
  /** Defaults to the control plane that the test run shares. */
  readonly controlPlane?: Cluster['controlPlane'] | undefined;
  /** Whether field ownership is compared. Defaults to false. */
  readonly comparesOwners?: boolean | undefined;
}

/**
 * compareKinds starts a server of ours next to the real one. Objects created on the real server are removed on
 * disposal.
 */
export async function compareKinds(options: CompareOptions = {}): Promise<BothServers> {
  const { controlPlane, comparesOwners = false } = options;
  const c = await cluster({ prefix: 'kinds', controlPlane });
  const own = c.uniqueName('own');
  const real = await sendToReal(c);
  const ours = sendToOurs();
  const filled = (text: string): string => text.replaceAll('OWN', own).replaceAll('NS', c.namespace);
  const here = (text: string): string => text.replaceAll(own, 'OWN').replaceAll(c.namespace, 'NS');
  const told = async (send: Send, step: Step): Promise<StepResponse> => {
    const { code, warning, text } = await send(...step);
    return { code, warning, body: essential(JSON.parse(here(text)) as Record<string, unknown>, comparesOwners) };
  };
  await ours('POST', '/api/v1/namespaces', { metadata: { name: c.namespace } });
  return {
    async sendToBoth([method, path, body, headers]) {
      const step: Step = [
        method,
        filled(path),
        body === undefined ? undefined : JSON.parse(filled(JSON.stringify(body))),
        headers,
      ];
      const responses = { real: await told(real, step), ours: await told(ours, step) };
      if (method === 'POST' && responses.real.code === 201 && !path.includes('OWN') && !path.includes('dryRun')) {
        const name = (step[2] as { metadata?: { name?: string } } | undefined)?.metadata?.name;
        c.onDispose(() => real('DELETE', `${step[1]}/${name}`));
      }
      return responses;
    },
    [Symbol.asyncDispose]: () => c[Symbol.asyncDispose](),
  };
}

async function sendToReal(c: Cluster): Promise<Send> {
  const kubeconfig = await c.kubeconfig('admin');
  const connection = connectionFrom(await parseKubeconfig(JSON.stringify(kubeconfig), kubeconfig['current-context']));
  const transport = connect(connection);
  c.onDispose(() => transport.close());
  return async (method, path, body, headers = {}) => {
    const response = await transport.request({
      method,
      path,
      lane: 'call',
      headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'test', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { code: response.status, warning: response.headers.warning, text: await response.text() };
  };
}

function sendToOurs(): Send {
  const server = startTestServer();
  return async (method, path, body, headers = {}) => {
    const {
      status,
      headers: told,
      body: responseBody,
    } = await server.call(method, path, body, {
      'user-agent': 'test',
      ...headers,
    });
    const { warning } = told;
    return { code: status, warning: warning && [warning].flat().join(', '), text: JSON.stringify(responseBody) };
  };
}

/** Fields that differ between servers or over time. */
const VOLATILE: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'lastPhaseTransitionTime',
  // In managedFields.
  'time',
]);

/**
 * Kinds that controllers of the real server own in part, tables of them, and Roles, whose rules have an owner here even
 * if no client set them.
 */
const OWNED_BY_OTHERS: ReadonlySet<string> = new Set(['ResourceQuota', 'PersistentVolume', 'Role', 'Table']);

/** essential drops times, versions, UIDs and field ownership, and replaces random addresses and ports. */
function essential(body: Record<string, unknown>, comparesOwners: boolean): unknown {
  const hasSameOwners = comparesOwners && !OWNED_BY_OTHERS.has(String(body.kind));
  const text = JSON.stringify(body, (name, value: unknown) => {
    if (VOLATILE.has(name) || (name === 'managedFields' && !hasSameOwners)) return undefined;
    if (name === 'description' && 'columnDefinitions' in body) return '';
    if (name === 'cells') return (value as unknown[]).map(essentialCell);
    // Admission sets these finalizers, and the compared server has none.
    if (name === 'finalizers') return essentialFinalizers(value as string[]);
    return value;
  });
  return JSON.parse(text.replaceAll(/10\.0\.0\.\d+/g, '10.0.0.x').replaceAll(/\b3[0-2]\d{3}\b/g, '30000'));
}

function essentialCell(cell: unknown): unknown {
  if (typeof cell !== 'string') return cell;
  if (/^(\d+[smhdy])+$/.test(cell)) return 'age';
  return /^\d{4}-\d\d-\d\dT[\d:]+Z$/.test(cell) ? 'time' : cell;
}

function essentialFinalizers(finalizers: readonly string[]): readonly string[] | undefined {
  const rest = finalizers.filter((each) => !/^kubernetes\.io\/pvc?-protection$/.test(each));
  return rest.length > 0 ? rest : undefined;
}
