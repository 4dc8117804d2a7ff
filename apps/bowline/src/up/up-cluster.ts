import { join, resolve } from 'node:path';
import { BowlineError, type Operator } from '@bowline/runtime';
import { type Client, connect, createClient } from '@bowline/runtime/client';
import type { LocalAccount } from '@bowline/runtime/manager';
import { type ClusterConnection, findCluster } from '../cluster/connect-cluster.ts';
import { clearKubeconfig } from '../control-plane/kubeconfig-file.ts';
import { type ControlPlaneKind, launchControlPlane } from '../control-plane/launch-control-plane.ts';
import type { Io } from '../terminal/io.ts';
import { accountKubeconfig } from './account-kubeconfig.ts';
import { accountOf } from './install-operators.ts';

/**
 * UpTarget selects where `bowline up` works: on a control plane of its own, or in the cluster of the current context.
 */
export type UpTarget = ControlPlaneKind | 'current-context';

/** UpClusterOptions select the cluster. */
export interface UpClusterOptions {
  readonly target: UpTarget;
  readonly port?: number | undefined;
  readonly dataDir?: string | undefined;
  /** The file to write the kubeconfig to. Defaults to one in the control plane's folder. */
  readonly kubeconfig?: string | undefined;
  /** Do not ask before working in the cluster of the current context. */
  readonly yes: boolean;
  /**
   * Warnings about unsafe settings of the operators: shown before anything is done in the cluster of the current
   * context.
   */
  readonly warnings: readonly string[];
  readonly signal: AbortSignal;
}

/** UpCluster is the cluster that `bowline up` works in. */
export interface UpCluster extends AsyncDisposable {
  /** A description for people: the kind of cluster and its address. */
  readonly title: string;
  readonly kind: UpTarget;
  readonly url: string;
  /** The kubeconfig to use; undefined if the user's own kubeconfig is used already. */
  readonly kubeconfig: string | undefined;
  /** Whether it was started for this command, and ends with it. */
  readonly isOwn: boolean;
  readonly connection: Pick<ClusterConnection, 'config' | 'isPod'>;
  readonly admin: Client;
  /** The folder of the control plane; undefined in the cluster of the current context. */
  readonly folder: string | undefined;
  /** kubeconfigFor returns the text of a kubeconfig of a ServiceAccount. */
  kubeconfigFor(account: LocalAccount): Promise<string>;
  /** clientFor returns the client of an operator: with its own account if the cluster is ours. */
  clientFor(operator: Operator): Promise<Client>;
  /** Rejects when the control plane ends by itself. */
  readonly crashed: Promise<never>;
}

/** openUpCluster starts a control plane, or finds the cluster of the current context and asks for confirmation. */
export function openUpCluster(options: UpClusterOptions, io: Io): Promise<UpCluster> {
  return options.target === 'current-context' ? currentContext(options, io) : ownControlPlane(options.target, options);
}

async function ownControlPlane(kind: ControlPlaneKind, options: UpClusterOptions): Promise<UpCluster> {
  const { connectClient, writeKubeconfig } = await import('@bowline/control-plane');
  const { port, dataDir, signal } = options;
  const named = options.kubeconfig === undefined ? undefined : resolve(options.kubeconfig);
  if (named !== undefined) await clearKubeconfig(named);
  const { controlPlane, crashed } = await launchControlPlane(kind, { port, dataDir, signal });
  const closing: (() => Promise<unknown>)[] = [() => controlPlane.stop()];
  const close = async (): Promise<void> => {
    for (const each of closing.splice(0).toReversed()) await each();
  };
  try {
    const kubeconfig = named ?? join(controlPlane.folder, 'kubeconfig');
    const document = await controlPlane.kubeconfig('admin');
    await writeKubeconfig(kubeconfig, document);
    if (dataDir === undefined) closing.push(() => clearKubeconfig(kubeconfig));
    const admin = await connectClient(document, { component: 'up' });
    closing.push(() => admin.close());
    const { version, url } = controlPlane;
    return {
      title: `${kind === 'embedded' ? 'embedded control plane' : 'Kubernetes'} ${version} at ${url}`,
      kind,
      url,
      kubeconfig,
      isOwn: true,
      connection: { config: { server: url, source: kubeconfig }, isPod: false },
      admin,
      folder: controlPlane.folder,
      kubeconfigFor: async (account) => JSON.stringify(await controlPlane.kubeconfig(account)),
      crashed,
      async clientFor(operator) {
        const client = await connectClient(await controlPlane.kubeconfig(accountOf(operator)), {
          component: operator.name,
        });
        closing.push(() => client.close());
        return client;
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function currentContext({ yes, warnings }: UpClusterOptions, io: Io): Promise<UpCluster> {
  const connection = await findCluster({}, io.env);
  const { server } = connection.config;
  for (const warning of warnings) io.err(`caution: ${warning}\n`);
  if (!yes) {
    const answer = await io.ask(
      `This installs the operators' CRDs, namespaces, companions and missing dependencies in the cluster at ${server} and runs the operators with your permissions. Continue? [y/N] `,
    );
    if (answer === undefined || !/^y(es)?$/i.test(answer.trim())) {
      throw new BowlineError(
        'BOWLINE_UP_UNCONFIRMED',
        `nothing was changed in the cluster at ${server}; answer y, pass --yes, or omit --control-plane to use an embedded one`,
      );
    }
  }
  const admin = createClient({ component: 'up', transport: connect(connection.config) });
  return {
    title: `cluster at ${server}`,
    kind: 'current-context',
    url: server,
    kubeconfig: undefined,
    isOwn: false,
    connection,
    admin,
    folder: undefined,
    kubeconfigFor: (account) => accountKubeconfig(admin, connection.config, account),
    clientFor: () => Promise.resolve(admin),
    crashed: new Promise(() => {}),
    [Symbol.asyncDispose]: () => admin.close(),
  };
}
