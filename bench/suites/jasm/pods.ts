import { inParallel } from '../../support/api.ts';
import { sampleConfigMap } from '../../support/config-maps.ts';
import type { JasmScene } from './scene.ts';

const writesInFlight = 24;
const podsPerSource = 10;
const namespaceCount = 100;

/** The namespaces of the pods, independent of the number of pods. */
export const namespaces: readonly string[] = Array.from(
  { length: namespaceCount },
  (_, index) => `asking-${String(index).padStart(3, '0')}`,
);

/** RequestingPod holds the names of a pod, its Secret and its source. */
export interface RequestingPod {
  readonly namespace: string;
  readonly name: string;
  readonly secretName: string;
  readonly path: string;
}

/** podAt returns the pod with this index. Ten of them, in as many namespaces, share a source. */
export function podAt(index: number): RequestingPod {
  const number = String(index).padStart(5, '0');
  return {
    namespace: namespaces[index % namespaces.length] ?? '',
    name: `app-${number}`,
    secretName: `app-${number}-settings`,
    path: pathOf(Math.floor(index / podsPerSource)),
  };
}

/** sourcesOf returns the number of sources of the given number of pods. */
export function sourcesOf(pods: number): number {
  return Math.ceil(pods / podsPerSource);
}

function pathOf(source: number): string {
  return `/bench/service-${String(source).padStart(4, '0')}/settings`;
}

/** putSources creates the secrets of the first sources in the store, about 1.2 kB each, with a revision. */
export function putSources({ aws }: JasmScene, sources: number, revision: string): void {
  for (let source = 0; source < sources; source += 1) putSource(aws, source, revision);
}

/** putSource writes a new version of one of them. */
export function putSource(aws: JasmScene['aws'], source: number, revision: string): void {
  aws.put(pathOf(source), { ...sampleConfigMap(source, '').data, revision });
}

/** ensurePods creates or deletes pods until exactly the first `count` exist. No operator may run. */
export async function ensurePods(scene: JasmScene, count: number): Promise<void> {
  const { api, known, log } = scene;
  const [from, to] = [Math.min(count, known.pods), Math.max(count, known.pods)];
  if (from === to) return;
  log(`${count > known.pods ? 'creating' : 'deleting'} ${to - from} pods`);
  const indexes = Array.from({ length: to - from }, (_, offset) => from + offset);
  await inParallel(indexes, writesInFlight, async (index) => {
    if (count > known.pods) return createPod(scene, podAt(index));
    const { namespace, name } = podAt(index);
    await api.ok('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}?gracePeriodSeconds=0`);
  });
  known.pods = count;
}

/** createPod creates a requesting pod. It is never scheduled, because it waits for its Secret anyway. */
export async function createPod(
  { api }: JasmScene,
  { namespace, name, secretName, path }: RequestingPod,
): Promise<void> {
  await api.ok('POST', `/api/v1/namespaces/${namespace}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: { 'app.kubernetes.io/name': name },
      annotations: {
        'jasm.codnod.io/secret-sync': `provider: aws-secretsmanager\npath: ${path}\nsecretName: ${secretName}\n`,
      },
    },
    spec: {
      schedulerName: 'nobody',
      containers: [{ name: 'main', image: 'example.test/main:1', envFrom: [{ secretRef: { name: secretName } }] }],
    },
  });
}

/** forceSync requests that a pod's Secret is read again. */
export async function forceSync({ api }: JasmScene, { namespace, name }: RequestingPod, value: string): Promise<void> {
  const body = { metadata: { annotations: { 'jasm.codnod.io/force-sync': value } } };
  await api.ok('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}`, body, 'application/merge-patch+json');
}
