import type { Api } from '../../support/api.ts';
import type { Peer } from '../../support/peers.ts';
import type { WrittenObject } from '../../support/raw-writes.ts';
import { type Candidate, peerCandidate } from '../../support/rounds.ts';
import { type Subject, subjectArguments } from '../../support/run-subject.ts';
import type { Scene } from '../../support/scene.ts';
import type { Plan } from './plan.ts';

/** How many writes each of the subjects has in flight. */
export const inFlight = 32;

/** SyncScene is what every measurement of this suite stands in. */
export interface SyncScene extends Scene {
  readonly plan: Plan;
  readonly api: Api;
  readonly controllerRuntime: Peer;
  /** What the first step found out for the others. */
  readonly known: Known;
}

/** Known is what a copy looks like as Bowline writes it, and how large the copies are. */
export interface Known {
  copy?: WrittenObject;
  copyBytes: Record<string, number>;
}

/** bowline is our operator, as `bowline run` runs it. */
export function bowline(scene: SyncScene): Subject {
  return {
    id: 'bowline',
    label: 'Bowline configmap-sync',
    command: scene.command('bowline-configmap-sync'),
    args: subjectArguments(scene, { inFlight }),
  };
}

/** controllerRuntime is the peer with the cache that it has by default. */
export function controllerRuntime(scene: SyncScene): Candidate {
  return peerCandidate(
    'controller-runtime',
    'controller-runtime operator',
    scene.controllerRuntime,
    peerArguments(scene),
  );
}

/** strippedControllerRuntime is the peer whose cache drops managed fields, as a careful author would have it. */
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
