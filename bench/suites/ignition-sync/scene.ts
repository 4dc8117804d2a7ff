import type { GitRequest, GitServer } from '../../../test/support/git/git-server.ts';
import type { Api } from '../../support/api.ts';
import type { Peer } from '../../support/peers.ts';
import type { OpenedScene } from '../../support/scene.ts';
import type { Plan } from './plan.ts';
import type { PlantRepository } from './plant-repository.ts';

/** LABEL is the name of the operator in results, and AGENT that of its agent. */
export const LABEL = 'Bowline ignition-sync';
export const AGENT = 'Bowline agent';

/** MANAGER_NAMESPACE is the namespace of the Lease, as in `runOperator`. */
export const MANAGER_NAMESPACE = 'default';

/** HMAC_SECRET is the secret of requests to the receiver. */
export const HMAC_SECRET = 'bench-hmac-secret';

/** IgnitionScene is the environment of every measurement of this suite. */
export interface IgnitionScene extends OpenedScene {
  readonly plan: Plan;
  readonly api: Api;
  /** Serves all repositories, over plain HTTP on loopback. */
  readonly git: GitServer;
  /** Calls a listener for every request to the Git server, until it is disposed of. */
  onGitRequest(listener: (request: GitRequest) => void): Disposable;
  /** Results of earlier steps for later ones. */
  readonly known: Known;
}

/** Known holds what was installed and built. */
export interface Known {
  /** The bundled command line. */
  program?: string;
  /** The kubeconfig of the operator's own account. */
  kubeconfig?: string;
  plant?: PlantRepository;
  rsync?: Peer;
  gitSync?: Peer;
}

/** plantOf returns the repository that `prepare` created. */
export function plantOf({ known }: IgnitionScene): PlantRepository {
  if (known.plant === undefined) throw new Error('the repository does not exist yet');
  return known.plant;
}
