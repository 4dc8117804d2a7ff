import type { Peer } from '../../support/peers.ts';
import type { Scene } from '../../support/scene.ts';
import type { Plan } from './plan.ts';

/** RuntimeScene is the environment of every measurement of this suite. */
export interface RuntimeScene extends Scene {
  readonly plan: Plan;
  readonly controllerRuntime: Peer;
  readonly clientNode: Peer;
}
