import { DaemonSet, ServiceAccount } from '@bowline/kubernetes';
import { CSIDriver } from '@bowline/kubernetes/storage-v1';
import { type Child, child } from '../objects/child.ts';
import { constraintsFor } from '../objects/constraints.ts';
import { objectLabels } from '../objects/labels.ts';
import { CSI_DRIVER } from '../spire/names.ts';
import { csiDaemonSet } from './csi-daemon-set.ts';
import { type CsiInput, csiComponent } from './csi-input.ts';

/** The pods of the driver mount into folders of the node, which only privileged containers can share with it. */
const PERMITTED = {
  allowHostNetwork: false,
  allowHostPID: false,
  allowHostPorts: false,
  allowPrivilegeEscalation: true,
  allowPrivilegedContainer: true,
  readOnlyRootFilesystem: false,
  volumes: ['hostPath', 'projected'],
};

/** csiObjects returns the objects of a SpiffeCSIDriver in the order in which they are written. */
export function csiObjects(input: CsiInput): readonly Child[] {
  const { config, spec, isOpenShift } = input;
  const labels = objectLabels(input, csiComponent(input));
  return [
    child('ServiceAccountAvailable', ServiceAccount, {
      metadata: { name: CSI_DRIVER, namespace: config.operandNamespace, labels },
    }),
    child('CSIDriverAvailable', CSIDriver, {
      metadata: {
        name: spec.pluginName,
        // OpenShift admits inline volumes of a driver only with this label.
        labels: isOpenShift
          ? { ...labels, 'security.openshift.io/csi-ephemeral-volume-profile': 'restricted' }
          : labels,
      },
      spec: {
        attachRequired: false,
        podInfoOnMount: true,
        fsGroupPolicy: 'None',
        volumeLifecycleModes: ['Ephemeral'],
      },
    }),
    ...(isOpenShift ? [constraintsFor(CSI_DRIVER, input, labels, PERMITTED)] : []),
    child('DaemonSetAvailable', DaemonSet, csiDaemonSet(input)),
  ];
}
