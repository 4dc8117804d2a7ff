/** KUBECTL_BODIES holds what kubectl 1.35.8 sends for `kubectl create …`, in base64, and the equivalent JSON. */
export const KUBECTL_BODIES: readonly (readonly [what: string, bytes: string, object: unknown])[] = [
  [
    'a Secret',
    'azhzAAoMCgJ2MRIGU2VjcmV0EisKHwoBcxIAGg5wcm90b2J1Zi1wcm9iZSIAKgAyADgAQgASBgoBcBIBMRoAGgAiAA==',
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'protobuf-probe' }, data: { p: 'MQ==' } },
  ],
  [
    'a Deployment',
    'azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50ErsBCisKAmRkEgAaDnByb3RvYnVmLXByb2JlIgAqADIAOABCAFoJCgNhcHASAmRkEn4IABILCgkKA2FwcBICZGQaZQobCgASABoAIgAqADIAOABCAFoJCgNhcHASAmRkEkYSKAoBaRIDaToxKgAyCgoAEAAYUCIAKgBCAGoAcgCAAQCIAQCQAQCiAQAaADIAQgBKAFIAWABgAGgAggEAigEAmgEAwgEAIgIKACgAOAAaDAgAEAAYACAAKAA4ABoAIgA=',
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'dd', namespace: 'protobuf-probe', labels: { app: 'dd' } },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: 'dd' } },
        template: {
          metadata: { labels: { app: 'dd' } },
          spec: { containers: [{ name: 'i', image: 'i:1', ports: [{ containerPort: 80 }], resources: {} }] },
        },
        strategy: {},
      },
      status: {},
    },
  ],
  [
    'a RoleBinding',
    'azhzAAorChxyYmFjLmF1dGhvcml6YXRpb24uazhzLmlvL3YxEgtSb2xlQmluZGluZxKzAQogCgJyYhIAGg5wcm90b2J1Zi1wcm9iZSIAKgAyADgAQgASJgoEVXNlchIZcmJhYy5hdXRob3JpemF0aW9uLms4cy5pbxoBdSIAEicKBUdyb3VwEhlyYmFjLmF1dGhvcml6YXRpb24uazhzLmlvGgFnIgASGAoOU2VydmljZUFjY291bnQSABoBYiIBYRokChlyYmFjLmF1dGhvcml6YXRpb24uazhzLmlvEgRSb2xlGgFyGgAiAA==',
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'rb', namespace: 'protobuf-probe' },
      subjects: [
        { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'u' },
        { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'g' },
        { kind: 'ServiceAccount', name: 'b', namespace: 'a' },
      ],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
    },
  ],
  [
    'a CronJob',
    'azhzAAoTCghiYXRjaC92MRIHQ3JvbkpvYhKnAQogCgJjahIAGg5wcm90b2J1Zi1wcm9iZSIAKgAyADgAQgASgAEKCSogKiAqICogKhoAKnEKEgoCY2oSABoAIgAqADIAOABCABJbMlkKEAoAEgAaACIAKgAyADgAQgASRRIeCgJjahIBaRoBYSoAQgBqAHIAgAEAiAEAkAEAogEAGglPbkZhaWx1cmUyAEIASgBSAFgAYABoAIIBAIoBAJoBAMIBABoAGgAiAA==',
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'cj', namespace: 'protobuf-probe' },
      spec: {
        schedule: '* * * * *',
        jobTemplate: {
          metadata: { name: 'cj' },
          spec: {
            template: {
              metadata: {},
              spec: {
                containers: [{ name: 'cj', image: 'i', command: ['a'], resources: {} }],
                restartPolicy: 'OnFailure',
              },
            },
          },
        },
      },
      status: {},
    },
  ],
  [
    'a ResourceQuota',
    'azhzAAoTCgJ2MRINUmVzb3VyY2VRdW90YRJPCh8KAXESABoOcHJvdG9idWYtcHJvYmUiACoAMgA4AEIAEioKCgoDY3B1EgMKATEKDwoGbWVtb3J5EgUKAzFHaQoLCgRwb2RzEgMKATIaABoAIgA=',
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q', namespace: 'protobuf-probe' },
      spec: { hard: { cpu: '1', memory: '1Gi', pods: '2' } },
      status: {},
    },
  ],
  [
    'a PodDisruptionBudget of a share',
    'azhzAAogCglwb2xpY3kvdjESE1BvZERpc3J1cHRpb25CdWRnZXQSRAofCgFwEgAaDnByb3RvYnVmLXByb2JlIgAqADIAOABCABIVCgkIARAAGgM1MCUSCAoGCgFhEgFiGgoIABgAIAAoADAAGgAiAA==',
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'p', namespace: 'protobuf-probe' },
      spec: { minAvailable: '50%', selector: { matchLabels: { a: 'b' } } },
      status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
    },
  ],
  [
    'a PodDisruptionBudget of a number',
    'azhzAAogCglwb2xpY3kvdjESE1BvZERpc3J1cHRpb25CdWRnZXQSQgogCgJwMhIAGg5wcm90b2J1Zi1wcm9iZSIAKgAyADgAQgASEhIICgYKAWESAWIaBggAEAAaABoKCAAYACAAKAAwABoAIgA=',
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'p2', namespace: 'protobuf-probe' },
      spec: { selector: { matchLabels: { a: 'b' } }, maxUnavailable: 0 },
      status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
    },
  ],
  [
    'a TokenRequest',
    'azhzAAooChhhdXRoZW50aWNhdGlvbi5rOHMuaW8vdjESDFRva2VuUmVxdWVzdBIzChAKABIAGgAiACoAMgA4AEIAEhkaFAoGU2VjcmV0EgJ2MRoEbm9wZSIAINgEGgQKABIAGgAiAA==',
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: {},
      spec: { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'nope' }, expirationSeconds: 600 },
      status: { token: '' },
    },
  ],
  [
    'a HorizontalPodAutoscaler',
    'azhzAAopCg5hdXRvc2NhbGluZy92MhIXSG9yaXpvbnRhbFBvZEF1dG9zY2FsZXISawofCgFkEgAaDnByb3RvYnVmLXByb2JlIgAqADIAOABCABJCChgKCkRlcGxveW1lbnQSAWQaB2FwcHMvdjEQARgDIiIKCFJlc291cmNlIhYKA2NwdRIPCgtVdGlsaXphdGlvbiAyGgQYACAAGgAiAA==',
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'd', namespace: 'protobuf-probe' },
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
        minReplicas: 1,
        maxReplicas: 3,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
        ],
      },
      status: { desiredReplicas: 0 },
    },
  ],
  [
    'an Ingress',
    'azhzAAofChRuZXR3b3JraW5nLms4cy5pby92MRIHSW5ncmVzcxJeCiEKA2luZxIAGg5wcm90b2J1Zi1wcm9iZSIAKgAyADgAQgASNRIICgNhLmISAXQaJgoDYS5iEh8KHQobCgIvYxINIgsKA3N2YxIECgAQUBoGUHJlZml4IgF4GgIKABoAIgA=',
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'ing', namespace: 'protobuf-probe' },
      spec: {
        tls: [{ hosts: ['a.b'], secretName: 't' }],
        rules: [
          {
            host: 'a.b',
            http: {
              paths: [{ path: '/c', backend: { service: { name: 'svc', port: { number: 80 } } }, pathType: 'Prefix' }],
            },
          },
        ],
        ingressClassName: 'x',
      },
      status: { loadBalancer: {} },
    },
  ],
];
