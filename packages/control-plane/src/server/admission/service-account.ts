import type { Container, PodSpec, ServiceAccount, Volume } from '@bowline/kubernetes';
import type { Random } from '@bowline/machinery';
import type { Draft } from '../registry/api-resource.ts';
import { generateName } from '../registry/names.ts';
import type { Storage } from '../storage/storage.ts';
import { keyIn, objectOf } from '../storage/stored.ts';
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts';
import { refuse } from './admission.ts';

const DEFAULT_ACCOUNT = 'default';
const VOLUME_PREFIX = 'kube-api-access-';
const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** MutablePodSpec is the spec of a Pod that is about to be stored. */
export type MutablePodSpec = { -readonly [Name in keyof PodSpec]: PodSpec[Name] };

/** podSpecOf returns the spec of a Pod if the request writes the whole Pod, and undefined otherwise. */
export function podSpecOf({ resource, subresource }: AdmissionRequest, object: Draft | undefined) {
  if (resource.resource !== 'pods' || resource.group !== '' || subresource !== '' || !object) return undefined;
  // Decoded as a Pod; validation later reports missing fields.
  object.spec ??= {};
  return object.spec as MutablePodSpec;
}

/**
 * serviceAccounts assigns a ServiceAccount to every Pod, the one that it names or the default of its namespace, and
 * mounts a token.
 */
export function serviceAccounts(storage: Storage, random: Random): AdmissionPlugin {
  return {
    name: 'ServiceAccount',
    mutate(request) {
      const spec = request.operation === 'CREATE' ? podSpecOf(request, request.object) : undefined;
      if (!spec) return;
      if (request.object?.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined) {
        checkMirrorPod(request, spec);
        return;
      }
      spec.serviceAccountName ||= DEFAULT_ACCOUNT;
      // The deprecated name of the field has the same value.
      spec.serviceAccount = spec.serviceAccountName;
      const account = accountOf(storage, request, spec.serviceAccountName);
      if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(spec, random);
      if ((spec.imagePullSecrets ?? []).length === 0 && account.imagePullSecrets?.length)
        spec.imagePullSecrets = account.imagePullSecrets.map(({ name }) => ({ name: name ?? '' }));
    },
  };
}

/** Rejects ServiceAccounts in mirror Pods: a Pod created by a kubelet must not get an account through the API. */
function checkMirrorPod(request: AdmissionRequest, spec: MutablePodSpec): void {
  if (spec.serviceAccountName) throw refuse(request, 'a mirror pod may not reference service accounts');
  const hasToken = spec.volumes?.some(({ projected }) =>
    projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken !== undefined),
  );
  if (hasToken) throw refuse(request, 'a mirror pod may not use ServiceAccountToken volume projections');
  if (spec.volumes?.some(({ secret }) => secret !== undefined))
    throw refuse(request, 'a mirror pod may not reference secrets');
}

function accountOf(storage: Storage, request: AdmissionRequest, name: string): ServiceAccount {
  const { namespace } = request;
  const stored = storage.get('serviceaccounts', keyIn(namespace, name));
  if (stored) return objectOf(stored);
  throw refuse(
    request,
    `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
  );
}

function mountToken(spec: MutablePodSpec, random: Random): void {
  const volumes = spec.volumes ?? [];
  const existing = volumes.find(({ name }) => name?.startsWith(VOLUME_PREFIX))?.name;
  const name = existing ?? generateName(VOLUME_PREFIX, random);
  let isNeeded = false;
  const mounted = <T extends Container>(containers: readonly T[] | undefined): T[] | undefined =>
    containers?.map((container) => {
      const mounts = container.volumeMounts ?? [];
      if (mounts.some(({ mountPath }) => mountPath === TOKEN_PATH)) return container;
      isNeeded = true;
      return { ...container, volumeMounts: [...mounts, { name, readOnly: true, mountPath: TOKEN_PATH }] };
    });
  const init = mounted(spec.initContainers);
  if (init) spec.initContainers = init;
  const containers = mounted(spec.containers);
  if (containers) spec.containers = containers;
  if (isNeeded && existing === undefined) spec.volumes = [...volumes, tokenVolume(name)];
}

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      defaultMode: 0o644,
      sources: [
        // The seven extra seconds distinguish the tokens that kubelets request from those that users request.
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
    },
  };
}
