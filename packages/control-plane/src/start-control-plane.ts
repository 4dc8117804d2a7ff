import type { Clock } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';
import type { ControlPlane } from './control-plane.ts';
import type { KubernetesOptions } from './kubernetes/options.ts';
import { startKubernetes } from './kubernetes/start-kubernetes.ts';

/** EmbeddedOptions describe the API server written in TypeScript, which does not exist yet. */
export interface EmbeddedOptions {
  readonly kind: 'embedded';
  /** Defaults to true. */
  readonly scheduler?: boolean | undefined;
  /** Defaults to true. */
  readonly workloads?: boolean | undefined;
  /** Defaults to memory. */
  readonly dataDir?: string | undefined;
  /** Defaults to the machine's clock. */
  readonly clock?: Clock | undefined;
}

/** ControlPlaneOptions describe a control plane of either kind. */
export type ControlPlaneOptions = KubernetesOptions | EmbeddedOptions;

/**
 * startControlPlane starts a control plane on this machine and resolves when it is ready.
 *
 * @example
 * await using controlPlane = await startControlPlane({ kind: 'kubernetes' });
 * await writeKubeconfig('kubeconfig', await controlPlane.kubeconfig('admin'));
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  if (options.kind === 'kubernetes') return startKubernetes(options);
  if (options.kind === 'embedded') {
    throw new BowlineError(
      'BOWLINE_CONTROL_PLANE_KIND',
      'the embedded control plane does not exist yet; use kind kubernetes, which runs the real components',
    );
  }
  // Callers without types can say anything.
  throw new BowlineError(
    'BOWLINE_CONTROL_PLANE_KIND',
    `there is no control plane of kind ${JSON.stringify((options as { kind?: unknown }).kind)}; use kubernetes`,
  );
}
