import type { OpenedScene } from '../../support/scene.ts';
import type { Plan } from './plan.ts';
import type { Server } from './servers.ts';

/** ControlPlaneScene is what every measurement of this suite stands in: both servers, next to each other. */
export interface ControlPlaneScene extends OpenedScene {
  readonly plan: Plan;
  readonly embedded: Server;
  readonly real: Server;
}
