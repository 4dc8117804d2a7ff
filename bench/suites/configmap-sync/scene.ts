import type { Api } from '../../support/api.ts';
import type { Peer } from '../../support/peers.ts';
import type { WrittenObject } from '../../support/raw-writes.ts';
import { type Candidate, peerCandidate } from '../../support/rounds.ts';
import { type Subject, subjectArguments } from '../../support/run-subject.ts';
import type { Scene } from '../../support/scene.ts';
import type { Plan } from './plan.ts';

/** The number of writes in flight of each subject. */
export const inFlight = 32;

/** SyncScene is the environment of every measurement of this suite. */
export interface SyncScene extends Scene {
  readonly plan: Plan;
  readonly api: Api;
  readonly controllerRuntime: Peer;
  /** Results of the first step for the others. */
  readonly known: Known;
}

/** Known holds the content of a copy as written by Bowline, and the sizes of the copies. */
export interface Known {
  copy?: WrittenObject;
  copyBytes: Record<string, number>;
}

/** bowline is our operator as run by `bowline run`. */
export function bowline(scene: SyncScene): Subject {
  return {
    id: 'bowline',
    label: 'Bowline configmap-sync',
    command: scene.command('bowline-configmap-sync'),
    args: subjectArguments(scene, { inFlight }),
  };
}

/** controllerRuntime is the peer with its default cache. */
export function controllerRuntime(scene: SyncScene): Candidate {
  return peerCandidate(
    'controller-runtime',
    'controller-runtime operator',
    scene.controllerRuntime,
    peerArguments(scene),
  );
}

/** strippedControllerRuntime is the peer with a cache that drops managed fields, as a careful author would configure it. */
export function strippedControllerRuntime(scene: SyncScene): Candidate {
  return peerCandidate(
    'controller-runtime-stripped',
    'controller-runtime operator, managed fields stripped',
    scene.controllerRuntime,
    [...peerArguments(scene), '-strip'],
  );
}

function peerArguments(scene: SyncScene): readonly string[] {
  return ['-kubeconfig', scene.kubeconfig, '-shape', 'sync', '-in-flight', String(inFlight)];
}
