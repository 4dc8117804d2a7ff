import { BowlineError } from '@bowline/machinery';
import type { ControlPlane } from './control-plane.ts';
import type { EmbeddedControlPlane } from './embedded/embedded-control-plane.ts';
import type { EmbeddedOptions } from './embedded/options.ts';
import type { KubernetesOptions } from './kubernetes/options.ts';

/** ControlPlaneOptions configures a control plane of either kind. */
export type ControlPlaneOptions = KubernetesOptions | EmbeddedOptions;

/**
 * startControlPlane starts a control plane on this machine and resolves when it is ready.
 *
 * @example
 * await using controlPlane = await startControlPlane({ kind: 'embedded' });
 * await writeKubeconfig('kubeconfig', await controlPlane.kubeconfig('admin'));
 */
export async function startControlPlane(options: EmbeddedOptions): Promise<EmbeddedControlPlane>;
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane>;
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  // Each kind is imported on demand, so a user of one kind does not wait for the other to load.
  if (options.kind === 'kubernetes') {
    const { startKubernetes } = await import('./kubernetes/start-kubernetes.ts');
    return startKubernetes(options);
  }
  if (options.kind === 'embedded') {
    const { startEmbedded } = await import('./embedded/start-embedded.ts');
    return startEmbedded(options);
  }
  // Callers without types can pass any kind.
  throw new BowlineError(
    'BOWLINE_CONTROL_PLANE_KIND',
    `unknown control plane kind ${JSON.stringify((options as { kind?: unknown }).kind)}; use embedded or kubernetes`,
  );
}
