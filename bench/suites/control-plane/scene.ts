import type { OpenedScene } from '../../support/scene.ts';
import type { Plan } from './plan.ts';
import type { Server } from './servers.ts';

/** ControlPlaneScene is the environment of every measurement of this suite: both servers, side by side. */
export interface ControlPlaneScene extends OpenedScene {
  readonly plan: Plan;
  readonly embedded: Server;
  readonly real: Server;
}
