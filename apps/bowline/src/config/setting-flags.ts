/**
 * settingFlags are the flags of the settings that belong to no operator: each with the path of its field in bowline.yaml,
 * whose schema says what the flag takes and what the help says of it.
 */
export const settingFlags = {
  operators: 'operators',
  namespace: 'namespace',
  namespaces: 'namespaces',
  'log-level': 'logging.level',
  'log-format': 'logging.format',
  'health-address': 'health.address',
  'metrics-address': 'metrics.address',
  'metrics-secure': 'metrics.secure',
  'metrics-certificate-folder': 'metrics.certificateFolder',
  'webhook-address': 'webhook.address',
  'webhook-reached-at': 'webhook.reachedAt',
  'webhook-configurations': 'webhook.configurations',
  'leader-elect': 'leaderElection.enabled',
  'lease-duration': 'leaderElection.leaseDuration',
  'renew-deadline': 'leaderElection.renewDeadline',
  'retry-period': 'leaderElection.retryPeriod',
  'drain-timeout': 'drainTimeout',
} as const;
