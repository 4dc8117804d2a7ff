import type { FakeAws } from '../../../operators/jasm/src/testing/fake-aws.test-support.ts';
import type { Api } from '../../support/api.ts';
import type { WrittenObject } from '../../support/raw-writes.ts';
import { type Subject, subjectArguments } from '../../support/run-subject.ts';
import type { OpenedScene } from '../../support/scene.ts';
import type { Plan } from './plan.ts';

/** The number of writes in flight of the bare loop. */
export const inFlight = 32;

/** The operator's configuration: every pod may request every path, everything else is default. */
export const config = { allowAllPaths: true };

/** JasmScene is the environment of every measurement of this suite. */
export interface JasmScene extends OpenedScene {
  readonly plan: Plan;
  readonly api: Api;
  /** The store, in this process. It verifies the signature of every call. */
  readonly aws: FakeAws;
  /** Results of earlier steps for later ones. */
  readonly known: Known;
}

/** Known holds what exists already, and the content of a Secret as written by the operator. */
export interface Known {
  /** The kubeconfig of the operator's own account. */
  kubeconfig?: string;
  /** The number of requesting pods. */
  pods: number;
  secret?: WrittenObject;
  secretBytes?: number;
}

/** bowline is our operator as run by `bowline run`, with its own account. */
export function bowline(scene: JasmScene): Subject {
  const { kubeconfig } = scene.known;
  if (kubeconfig === undefined) throw new Error('the operator is not installed yet');
  const options = { environment: JSON.stringify(scene.aws.environment), config: JSON.stringify(config) };
  return {
    id: 'bowline',
    label: 'Bowline jasm',
    command: scene.command('bowline-jasm'),
    args: subjectArguments({ ...scene, kubeconfig }, options),
  };
}
