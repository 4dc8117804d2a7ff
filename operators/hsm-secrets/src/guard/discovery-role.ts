import { ClusterRole } from '@bowline/kubernetes';
import { companion } from '@bowline/runtime';
import { GROUP } from '../api/names.ts';

/**
 * REPORT_VERB allows writing reports on any pod of a namespace: for scanners of others, and for users who write a
 * report by hand. It is a verb on hsmpools that no request uses.
 */
export const REPORT_VERB = 'report';

/**
 * SELF_REPORT_VERB marks the accounts of discovery pods, which may write the report of their own pod and nothing else.
 */
export const SELF_REPORT_VERB = 'self-report';

/**
 * discoveryRole is the role of discovery pods. The manager binds it in the namespace of each HSMDevice, and does not
 * have its permissions itself.
 */
export const discoveryRole = companion(ClusterRole, 'discovery').content(() => ({
  rules: [
    { apiGroups: [GROUP], resources: ['hsmdevices', 'hsmpools'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [GROUP], resources: ['hsmpools'], verbs: [SELF_REPORT_VERB] },
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'patch'] },
  ],
}));
