import type { ObjectOf } from '@bowline/kubernetes';
import { defineResource, s } from '@bowline/runtime/resource';
import { flag } from './flag.ts';
import { logFields, operandPodFields } from './scheduling.ts';
import { identityCopies } from './shared-fields.ts';
import { readyColumns, singletonOf } from './singleton.ts';

/** DEFAULT_SOCKET_PATH is the folder of the Workload API socket on nodes. */
export const DEFAULT_SOCKET_PATH = '/run/spire/agent-sockets';

/** socketPathField returns the schema of the folder of the Workload API socket on nodes. */
export function socketPathField() {
  return s.string().maxLength(256).pattern('^/[a-zA-Z0-9._/\\-]*$').default(DEFAULT_SOCKET_PATH);
}

const fileName = () => s.string().maxLength(256).pattern('^[a-zA-Z0-9._-]+$');

const verification = s
  .object({
    type: s
      .enum(['auto', 'hostCert', 'apiServerCA', 'skip'])
      .default('auto')
      .describe('How the certificate of kubelet is verified.'),
    hostCertBasePath: s.string().maxLength(256).pattern('^/.*$').describe('The folder of the CA on nodes.').optional(),
    hostCertFileName: fileName().describe('The file of the CA in that folder.').optional(),
  })
  .rule("!has(self.type) || self.type != 'hostCert' || (has(self.hostCertBasePath) && has(self.hostCertFileName))", {
    message: 'hostCert needs the file of the CA; set hostCertBasePath and hostCertFileName',
    fieldPath: '.type',
  });

const workloadAttestors = s.object({
  k8sEnabled: flag().default('true').describe('Whether workloads are identified by their pods.'),
  disableContainerSelectors: flag().default('false').describe('Whether containers are not told apart.'),
  useNewContainerLocator: flag().default('true').describe('Whether the newer way to find containers is used.'),
  workloadAttestorsVerification: verification.default({}).describe('How kubelet is verified.'),
});

const spec = s
  .object({
    ...identityCopies,
    socketPath: socketPathField().describe('The folder of the Workload API socket on nodes.'),
    ...logFields,
    nodeAttestor: s
      .object({ k8sPSATEnabled: flag().default('true').describe('Whether nodes are identified by projected tokens.') })
      .default({})
      .describe('How nodes are identified.'),
    workloadAttestors: workloadAttestors.default({}).describe('How workloads are identified.'),
    kubeletAddress: s
      .enum(['HostIP', 'NodeName', 'Localhost'])
      .describe('How the agent reaches kubelet. Defaults to HostIP, on OpenShift to NodeName.')
      .optional(),
    ...operandPodFields,
  })
  .default({});

/** SpireAgent is the resource of the SPIRE agents. */
export const SpireAgent = defineResource({
  ...singletonOf('SpireAgent'),
  shortNames: ['spireagt'],
  description: 'SpireAgent configures the SPIRE agent, which runs on every node.',
  spec,
  status: s.object({}),
  columns: readyColumns,
});

/** SpireAgent is the type of the object. */
export type SpireAgent = ObjectOf<typeof SpireAgent>;
