import { type KubernetesObject, resource } from '@bowline/kubernetes';

/** OperatorCondition is the type of what an operator reports to OLM, as far as this operator uses it. */
export interface OperatorCondition extends KubernetesObject {
  readonly spec?:
    | {
        readonly conditions?:
          | readonly {
              readonly type: string;
              readonly status: string;
              readonly reason: string;
              readonly message: string;
              readonly lastTransitionTime: string;
            }[]
          | undefined;
      }
    | undefined;
}

/** OperatorCondition is the kind that OLM creates for each operator that it installs. */
export const OperatorCondition = resource<OperatorCondition>()({
  group: 'operators.coreos.com',
  version: 'v2',
  kind: 'OperatorCondition',
  plural: 'operatorconditions',
  scope: 'Namespaced',
});
