import { type RequestSelection, WRITES } from '../../support/request-counts.ts';

/**
 * operatorWrites selects the writes of everything that the operator writes but its Lease. No other component writes these
 * while nothing is created or deleted.
 */
export const operatorWrites: RequestSelection = {
  resources: [
    'hsmdevices',
    'hsmpools',
    'hsmsecrets',
    'secrets',
    'events',
    'daemonsets',
    'deployments',
    'serviceaccounts',
    'rolebindings',
    'networkpolicies',
    'configmaps',
  ],
  verbs: WRITES,
};
