import type { Api } from '../../support/api.ts';
import type { WrittenObject } from '../../support/raw-writes.ts';
import { type Subject, subjectArguments } from '../../support/run-subject.ts';
import type { OpenedScene } from '../../support/scene.ts';
import type { Plan } from './plan.ts';
import type { Workload } from './pods.ts';

/** The number of requests in flight of the bare loops. */
export const inFlight = 32;

/** The operator's configuration: everything is default but the image, which the install otherwise provides. */
export const config = { image: 'example.test/bowline:1' };

/** LABEL is the name of the operator in results. */
export const LABEL = 'Bowline hsm-secrets';

/** HsmScene is the environment of every measurement of this suite. */
export interface HsmScene extends OpenedScene {
  readonly plan: Plan;
  readonly api: Api;
  /** Results of earlier steps for later ones. */
  readonly known: Known;
}

/** Known holds what exists already, and what was observed of it. */
export interface Known {
  /** The kubeconfig of the operator's own account. */
  kubeconfig?: string;
  /** The DaemonSet of the fleet. */
  fleet?: Workload;
  /** The number of discovery pods of the fleet. */
  pods: number;
  haveReports: boolean;
  /** The bytes of a discovery pod as sent by the server, without managedFields. */
  podBytes?: number;
  /** A delivered Secret. */
  secret?: WrittenObject;
  secretBytes?: number;
}

/** bowline is our operator as run by `bowline run`, with its own account. */
export function bowline(scene: HsmScene): Subject {
  const { kubeconfig } = scene.known;
  if (kubeconfig === undefined) throw new Error('the operator is not installed yet');
  return {
    id: 'bowline',
    label: LABEL,
    command: scene.command('bowline-hsm'),
    args: subjectArguments({ ...scene, kubeconfig }, { config: JSON.stringify(config) }),
  };
}
