import type { Peer } from '../../support/peers.ts';
import type { Scene } from '../../support/scene.ts';
import type { Plan } from './plan.ts';

/** RuntimeScene is what every measurement of this suite stands in. */
export interface RuntimeScene extends Scene {
  readonly plan: Plan;
  readonly controllerRuntime: Peer;
  readonly clientNode: Peer;
}
