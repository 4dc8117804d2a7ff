import type { FakeAws } from '../../../operators/jasm/src/testing/fake-aws.test-support.ts';
import type { Api } from '../../support/api.ts';
import type { WrittenObject } from '../../support/raw-writes.ts';
import { type Subject, subjectArguments } from '../../support/run-subject.ts';
import type { OpenedScene } from '../../support/scene.ts';
import type { Plan } from './plan.ts';

/** How many writes the bare loop has in flight. */
export const inFlight = 32;

/** config is the operator's section of the configuration: every pod may ask for every path, all else as it comes. */
export const config = { allowAllPaths: true };

/** JasmScene is what every measurement of this suite stands in. */
export interface JasmScene extends OpenedScene {
  readonly plan: Plan;
  readonly api: Api;
  /** The store, in this process. It verifies the signature of every call. */
  readonly aws: FakeAws;
  /** What earlier steps did, and found out, for the others. */
  readonly known: Known;
}

/** Known is what is there already, and what a Secret looks like as the operator writes it. */
export interface Known {
  /** The kubeconfig of the operator's own account. */
  kubeconfig?: string;
  /** How many pods ask. */
  pods: number;
  secret?: WrittenObject;
  secretBytes?: number;
}

/** bowline is our operator, as `bowline run` runs it, under its own account. */
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
