import type { Volume, VolumeMount, VolumeProjection } from '@bowline/kubernetes';
import type { IgnitionSync, IgnitionSyncSpec } from '../api/ignition-sync.ts';
import { objectNames } from '../api/names.ts';
import type { Config } from '../config.ts';

/** AgentVolume is a volume that only the agent mounts, and the flags that tell the agent where it is. */
export interface AgentVolume {
  readonly volume: Volume;
  readonly mount: VolumeMount;
  /** By name of the flag, without dashes. */
  readonly flags: Readonly<Record<string, string>>;
}

/** Where the volumes of the agent are mounted. */
const MOUNTS = '/ignition-sync';
const TOKEN_MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Every user may read the files: which user the agent has is decided by the pod, and no other container mounts them. */
const READ_ONLY = 0o444;
/** As the token that the API server adds: an hour, and a few seconds by which the two can be told apart. */
const TOKEN_SECONDS = 3607;

interface SecretKey {
  readonly name: string;
  readonly key: string;
}

/** SecretFile is a key of a Secret that the agent reads as a file. */
interface SecretFile {
  readonly ref: SecretKey;
  readonly path: string;
  readonly flag?: string | undefined;
}

/** agentVolumes returns the volumes of the agent of an IgnitionSync. Names that `isTaken` are changed. */
export function agentVolumes(
  sync: IgnitionSync,
  config: Pick<Config, 'maxRepositoryMiB'>,
  isTaken: (name: string) => boolean,
): readonly AgentVolume[] {
  const { spec } = sync;
  const cr = sync.metadata?.name ?? '';
  const name = (purpose: string): string => freeName(`ignition-sync-${purpose}`, isTaken);
  const secrets = (purpose: string, files: readonly SecretFile[]): readonly AgentVolume[] =>
    files.length === 0 ? [] : [secretVolume(name(purpose), `${MOUNTS}/${purpose}`, files)];
  return [
    repositoryVolume(name('repo'), cr, spec, config),
    {
      volume: { name: name('scratch'), emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
      mount: { name: name('scratch'), mountPath: `${MOUNTS}/scratch` },
      flags: { 'scratch-folder': `${MOUNTS}/scratch` },
    },
    ...secrets('api-key', [{ ref: spec.gateway.apiKeySecretRef, path: 'api-key', flag: 'api-key-file' }]),
    ...secrets('git', gitFiles(spec, cr)),
    ...secrets('s3', s3Files(spec)).map((each) => ({ ...each, flags: { 's3-credentials-folder': `${MOUNTS}/s3` } })),
    tokenVolume(name('token')),
    podInfoVolume(name('pod-info')),
  ];
}

function freeName(name: string, isTaken: (name: string) => boolean): string {
  for (let suffix = 1; ; suffix++) {
    const candidate = suffix === 1 ? name : `${name}-${suffix}`;
    if (!isTaken(candidate)) return candidate;
  }
}

function repositoryVolume(
  name: string,
  cr: string,
  { storage }: IgnitionSyncSpec,
  { maxRepositoryMiB }: Pick<Config, 'maxRepositoryMiB'>,
): AgentVolume {
  const folder = `${MOUNTS}/repo`;
  return {
    volume:
      storage === undefined
        ? // The objects of the last commit are kept until those of the next one are complete.
          { name, emptyDir: { sizeLimit: `${2 * maxRepositoryMiB}Mi` } }
        : { name, persistentVolumeClaim: { claimName: objectNames(cr).claim } },
    mount: { name, mountPath: folder },
    flags: { 'repo-folder': folder },
  };
}

/** gitFiles returns what the agent needs to authenticate to the Git server, and to authenticate the Git server. */
function gitFiles({ git }: IgnitionSyncSpec, cr: string): readonly SecretFile[] {
  const { sshKey, githubApp, token } = git.auth ?? {};
  const file = (ref: SecretKey | undefined, path: string, flag: string): readonly SecretFile[] =>
    ref === undefined ? [] : [{ ref, path, flag }];
  const appToken = githubApp === undefined ? undefined : { name: objectNames(cr).githubToken, key: 'token' };
  return [
    ...file(token?.secretRef ?? appToken, 'token', 'git-token-file'),
    ...file(sshKey?.secretRef, 'ssh-key', 'git-ssh-key-file'),
    ...file(sshKey?.knownHosts?.secretRef, 'known-hosts', 'known-hosts-file'),
    ...file(git.caSecretRef, 'ca.crt', 'ca-file'),
  ];
}

function s3Files({ snapshots }: IgnitionSyncSpec): readonly SecretFile[] {
  const name = snapshots?.enabled ? snapshots.storage.s3?.credentialsSecretRef?.name : undefined;
  if (name === undefined) return [];
  return ['access-key-id', 'secret-access-key'].map((key) => ({ ref: { name, key }, path: key }));
}

/**
 * secretVolume mounts the named keys, and nothing else of their Secrets. They are optional: a gateway starts without them,
 * and the agent reports which one is missing.
 */
function secretVolume(name: string, mountPath: string, files: readonly SecretFile[]): AgentVolume {
  const sources: VolumeProjection[] = files.map(({ ref, path }) => ({
    secret: { name: ref.name, items: [{ key: ref.key, path }], optional: true },
  }));
  return {
    volume: { name, projected: { defaultMode: READ_ONLY, sources } },
    mount: { name, mountPath, readOnly: true },
    flags: Object.fromEntries(
      files.flatMap(({ flag, path }) => (flag === undefined ? [] : [[flag, `${mountPath}/${path}`]])),
    ),
  };
}

/** The agent has its own token, so that it works in pods that mount none. */
function tokenVolume(name: string): AgentVolume {
  const sources: VolumeProjection[] = [
    { serviceAccountToken: { path: 'token', expirationSeconds: TOKEN_SECONDS } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] },
    },
  ];
  return {
    volume: { name, projected: { defaultMode: READ_ONLY, sources } },
    mount: { name, mountPath: TOKEN_MOUNT, readOnly: true },
    flags: {},
  };
}

/** Labels and annotations may change while the pod runs, so they are files. */
function podInfoVolume(name: string): AgentVolume {
  const item = (path: string) => ({ path, fieldRef: { apiVersion: 'v1', fieldPath: `metadata.${path}` } });
  const folder = `${MOUNTS}/pod-info`;
  return {
    volume: { name, downwardAPI: { defaultMode: READ_ONLY, items: [item('labels'), item('annotations')] } },
    mount: { name, mountPath: folder, readOnly: true },
    flags: { 'pod-info-folder': folder },
  };
}
