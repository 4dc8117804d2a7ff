import { join } from 'node:path';
import type { Container, Pod } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import type { LocalAccount } from '@bowline/runtime/manager';
import { AGENT_CONTAINER } from '../../api/names.ts';
import { expandVariables } from './expand-variables.ts';
import { podField } from './pod-field.ts';
import { provideVolume } from './pod-volumes.ts';
import { writeProjection } from './write-projection.ts';

/** SidecarOptions configures how the container of an agent becomes a process. */
export interface SidecarOptions {
  /** The pod as stored, with its agent. */
  readonly pod: Pod;
  /** The folder of the pod. It has the same content when the agent is restarted. */
  readonly folder: string;
  /** Reads what a kubelet reads: Secrets, ConfigMaps, claims and volumes. */
  readonly client: Pick<Client, 'find'>;
  /** kubeconfigFor returns the text, as JSON, of a kubeconfig with a token that is bound to the pod. */
  kubeconfigFor(account: LocalAccount): Promise<string>;
  /**
   * Flags with another value than in the pod: processes share the ports of the machine, so each needs its own. Defaults
   * to none.
   */
  readonly flags?: Readonly<Record<string, string>> | undefined;
}

/** PreparedSidecar is a container whose volumes are folders. */
export interface PreparedSidecar {
  /** The arguments of the container, with the paths of the folders. */
  readonly args: readonly string[];
  /** The environment of the container. */
  readonly env: Readonly<Record<string, string>>;
  /** The folder with the data of the gateway. */
  readonly dataFolder: string;
  /** refresh updates what a kubelet updates: Secrets, ConfigMaps, labels and annotations. */
  refresh(pod?: Pod): Promise<void>;
}

/** prepareSidecar creates the volumes of the agent of a pod, and returns its command line. */
export async function prepareSidecar(options: SidecarOptions): Promise<PreparedSidecar> {
  const { pod, folder } = options;
  const container = agentOf(pod);
  const env = environmentOf(pod, container);
  const account = accountOf(pod);
  const kubeconfig = await options.kubeconfigFor(account);
  await writeProjection(join(folder, '.kubeconfig'), [{ path: 'config', content: kubeconfig, mode: 0o400 }]);
  const token = (): Promise<string> => Promise.resolve(tokenOf(kubeconfig));
  const provide = async (current: Pod): Promise<ReadonlyMap<string, string>> => {
    const folders = new Map<string, string>();
    for (const { name, mountPath, subPath, subPathExpr } of container.volumeMounts ?? []) {
      const volume = pod.spec?.volumes?.find((each) => each.name === name);
      if (volume === undefined) throw invalid(pod, `it has no volume "${name}"`);
      const path = await provideVolume(volume, { pod: current, folder, client: options.client, token });
      const below = subPath ?? (subPathExpr === undefined ? '' : expandVariables(subPathExpr, env));
      folders.set(mountPath, join(path, below));
    }
    return folders;
  };
  const folders = await provide(pod);
  const flags = { ...options.flags, kubeconfig: join(folder, '.kubeconfig', 'config') };
  const args = (container.args ?? []).map((arg) => withFolders(expandVariables(arg, env), folders));
  const dataFolder = args.find((arg) => arg.startsWith('--data-folder='))?.slice('--data-folder='.length);
  if (dataFolder === undefined) throw invalid(pod, 'its agent has no flag --data-folder');
  return {
    args: withFlags(args, flags),
    env,
    dataFolder,
    refresh: async (current = pod) => {
      await provide(current);
    },
  };
}

function agentOf(pod: Pod): Container {
  const container = pod.spec?.initContainers?.find(({ name }) => name === AGENT_CONTAINER);
  if (container === undefined) throw invalid(pod, `it has no container "${AGENT_CONTAINER}"`);
  return container;
}

function accountOf({ metadata, spec }: Pod): LocalAccount {
  const { namespace = '', name = '' } = metadata ?? {};
  return { serviceAccount: { namespace, name: spec?.serviceAccountName ?? 'default' }, pod: name };
}

function environmentOf(pod: Pod, { env = [] }: Container): Readonly<Record<string, string>> {
  const variables: Record<string, string> = {};
  for (const { name, value, valueFrom } of env) {
    const path = valueFrom?.fieldRef?.fieldPath;
    variables[name] = path === undefined ? expandVariables(value ?? '', variables) : podField(pod, path);
  }
  return variables;
}

/** The token is the one of the kubeconfig: a kubelet requests one for the pod, not two. */
function tokenOf(kubeconfig: string): string {
  const { users } = JSON.parse(kubeconfig) as { users?: readonly { user?: { token?: string } }[] };
  return users?.[0]?.user?.token ?? '';
}

/** withFolders replaces a mount path at the beginning of the value of a flag. The longest one decides. */
function withFolders(arg: string, folders: ReadonlyMap<string, string>): string {
  const [flag = '', value] = arg.split(/=(.*)/s, 2);
  if (value === undefined) return arg;
  const mounts = [...folders].sort(([a], [b]) => b.length - a.length);
  const [mount, folder = ''] = mounts.find(([path]) => value === path || value.startsWith(`${path}/`)) ?? [];
  return mount === undefined ? arg : `${flag}=${folder}${value.slice(mount.length)}`;
}

function withFlags(args: readonly string[], flags: Readonly<Record<string, string>>): readonly string[] {
  const others = args.filter((arg) => !Object.keys(flags).some((name) => arg.startsWith(`--${name}=`)));
  return [...others, ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)];
}

function invalid({ metadata }: Pod, problem: string): BowlineError {
  return new BowlineError(
    'BOWLINE_SIDECAR_UNSUPPORTED',
    `cannot run the agent of the pod ${metadata?.name} as a process: ${problem}`,
  );
}
