// Generated from the Go types (Kubernetes v1.35.8) by `npm run generate`: do not edit.
export const fieldNumbers: { readonly [module: string]: string | undefined } = {
  'admissionregistration-v1': `
AuditAnnotation key! valueExpression!
ExpressionWarning 2:fieldRef! warning!
MatchCondition name! expression!
MatchResources namespaceSelector objectSelector resourceRules excludeResourceRules 7:matchPolicy!
MutatingWebhook name! clientConfig rules failurePolicy! namespaceSelector sideEffects! timeoutSeconds! admissionReviewVersions matchPolicy! reinvocationPolicy! objectSelector matchConditions
MutatingWebhookConfiguration metadata webhooks
NamedRuleWithOperations resourceNames >RuleWithOperations
ParamKind apiVersion kind
ParamRef name namespace selector parameterNotFoundAction!
Rule apiGroups apiVersions resources scope!
RuleWithOperations operations >Rule
ServiceReference namespace! name! path! port!
TypeChecking expressionWarnings
ValidatingAdmissionPolicy metadata spec status
ValidatingAdmissionPolicyBinding metadata spec
ValidatingAdmissionPolicyBindingSpec policyName paramRef matchResources validationActions
ValidatingAdmissionPolicySpec paramKind matchConstraints validations failurePolicy! auditAnnotations matchConditions variables
ValidatingAdmissionPolicyStatus observedGeneration typeChecking conditions
ValidatingWebhook name! clientConfig rules failurePolicy! namespaceSelector sideEffects! timeoutSeconds! admissionReviewVersions matchPolicy! objectSelector matchConditions
ValidatingWebhookConfiguration metadata webhooks
Validation expression! message reason! messageExpression
Variable name! expression!
WebhookClientConfig service caBundle url!
`,
  'apiextensions-v1': `
CustomResourceColumnDefinition name! type! format description priority jsonPath!
CustomResourceConversion strategy! webhook
CustomResourceDefinition metadata spec status
CustomResourceDefinitionCondition type! status! lastTransitionTime reason message observedGeneration
CustomResourceDefinitionNames plural! singular shortNames kind! listKind categories
CustomResourceDefinitionSpec group! 3:names scope! 7:versions 9:conversion preserveUnknownFields
CustomResourceDefinitionStatus conditions acceptedNames storedVersions observedGeneration
CustomResourceDefinitionVersion name! served! storage! schema subresources additionalPrinterColumns deprecated deprecationWarning! selectableFields
CustomResourceSubresourceScale specReplicasPath! statusReplicasPath! labelSelectorPath!
CustomResourceSubresources status. scale
CustomResourceValidation openAPIV3Schema
ExternalDocumentation description url
JSONSchemaProps id $schema $ref! description type format title default maximum! exclusiveMaximum minimum! exclusiveMinimum maxLength! minLength! pattern maxItems! minItems! uniqueItems multipleOf! enum maxProperties! minProperties! required items+ allOf oneOf anyOf not properties additionalProperties? patternProperties dependencies| additionalItems? definitions externalDocs example nullable x-kubernetes-preserve-unknown-fields! x-kubernetes-embedded-resource x-kubernetes-int-or-string x-kubernetes-list-map-keys x-kubernetes-list-type! x-kubernetes-map-type! x-kubernetes-validations
SelectableField jsonPath!
ServiceReference namespace! name! path! port!
ValidationRule rule! message messageExpression reason! fieldPath optionalOldSelf!
WebhookClientConfig service caBundle url!
WebhookConversion 2:clientConfig conversionReviewVersions
`,
  'apiregistration-v1': `
APIService metadata spec status
APIServiceCondition type! status! lastTransitionTime reason message
APIServiceSpec service group version insecureSkipTLSVerify caBundle 7:groupPriorityMinimum! versionPriority!
APIServiceStatus conditions
ServiceReference namespace name port!
`,
  'apps-v1': `
ControllerRevision metadata data revision!
DaemonSet metadata spec status
DaemonSetCondition type! status! lastTransitionTime reason message
DaemonSetSpec selector template updateStrategy minReadySeconds 6:revisionHistoryLimit!
DaemonSetStatus currentNumberScheduled! numberMisscheduled! desiredNumberScheduled! numberReady! observedGeneration updatedNumberScheduled numberAvailable numberUnavailable collisionCount! conditions
DaemonSetUpdateStrategy type rollingUpdate
Deployment metadata spec status
DeploymentCondition type! status! 4:reason message lastUpdateTime lastTransitionTime
DeploymentSpec replicas! selector template strategy minReadySeconds revisionHistoryLimit! paused 9:progressDeadlineSeconds!
DeploymentStatus observedGeneration replicas updatedReplicas availableReplicas unavailableReplicas conditions readyReplicas collisionCount! terminatingReplicas!
DeploymentStrategy type rollingUpdate
ReplicaSet metadata spec status
ReplicaSetCondition type! status! lastTransitionTime reason message
ReplicaSetSpec replicas! selector template minReadySeconds
ReplicaSetStatus replicas! fullyLabeledReplicas observedGeneration readyReplicas availableReplicas conditions terminatingReplicas!
RollingUpdateDaemonSet maxUnavailable maxSurge
RollingUpdateDeployment maxUnavailable maxSurge
RollingUpdateStatefulSetStrategy partition! maxUnavailable
StatefulSet metadata spec status
StatefulSetCondition type! status! lastTransitionTime reason message
StatefulSetOrdinals start!
StatefulSetPersistentVolumeClaimRetentionPolicy whenDeleted whenScaled
StatefulSetSpec replicas! selector template volumeClaimTemplates serviceName! podManagementPolicy updateStrategy revisionHistoryLimit! minReadySeconds persistentVolumeClaimRetentionPolicy ordinals
StatefulSetStatus observedGeneration replicas! readyReplicas currentReplicas updatedReplicas currentRevision updateRevision 9:collisionCount! conditions availableReplicas!
StatefulSetUpdateStrategy type rollingUpdate
`,
  'authentication-v1': `
BoundObjectReference kind apiVersion name uid
SelfSubjectReview metadata status
SelfSubjectReviewStatus userInfo
TokenRequest metadata spec status
TokenRequestSpec audiences 3:boundObjectRef expirationSeconds!
TokenRequestStatus token! expirationTimestamp
TokenReview metadata spec status
TokenReviewSpec token audiences
TokenReviewStatus authenticated user error audiences
UserInfo username uid groups extra
`,
  'authorization-v1': `
FieldSelectorAttributes rawSelector requirements
LabelSelectorAttributes rawSelector requirements
LocalSubjectAccessReview metadata spec status
NonResourceAttributes path verb
NonResourceRule verbs nonResourceURLs
ResourceAttributes namespace verb group version resource subresource name fieldSelector labelSelector
ResourceRule verbs apiGroups resources resourceNames
SelfSubjectAccessReview metadata spec status
SelfSubjectAccessReviewSpec resourceAttributes nonResourceAttributes
SelfSubjectRulesReview metadata spec status
SelfSubjectRulesReviewSpec namespace
SubjectAccessReview metadata spec status
SubjectAccessReviewSpec resourceAttributes nonResourceAttributes user groups extra uid
SubjectAccessReviewStatus allowed! reason evaluationError denied
SubjectRulesReviewStatus resourceRules nonResourceRules incomplete! evaluationError
`,
  'autoscaling-v1': `
CrossVersionObjectReference kind! name! apiVersion
HorizontalPodAutoscaler metadata spec status
HorizontalPodAutoscalerSpec scaleTargetRef minReplicas! maxReplicas! targetCPUUtilizationPercentage!
HorizontalPodAutoscalerStatus observedGeneration! lastScaleTime currentReplicas! desiredReplicas! currentCPUUtilizationPercentage!
Scale metadata spec status
ScaleSpec replicas
ScaleStatus replicas! selector
`,
  'autoscaling-v2': `
ContainerResourceMetricSource name! target container!
ContainerResourceMetricStatus name! current container!
CrossVersionObjectReference kind! name! apiVersion
ExternalMetricSource metric target
ExternalMetricStatus metric current
HPAScalingPolicy type! value! periodSeconds!
HPAScalingRules selectPolicy! policies stabilizationWindowSeconds! tolerance
HorizontalPodAutoscaler metadata spec status
HorizontalPodAutoscalerBehavior scaleUp scaleDown
HorizontalPodAutoscalerCondition type! status! lastTransitionTime reason message
HorizontalPodAutoscalerSpec scaleTargetRef minReplicas! maxReplicas! metrics behavior
HorizontalPodAutoscalerStatus observedGeneration! lastScaleTime currentReplicas desiredReplicas! currentMetrics conditions
MetricIdentifier name! selector
MetricSpec type! object pods resource external 7:containerResource
MetricStatus type! object pods resource external 7:containerResource
MetricTarget type! value averageValue averageUtilization!
MetricValueStatus value averageValue averageUtilization!
ObjectMetricSource describedObject target metric
ObjectMetricStatus metric current describedObject
PodsMetricSource metric target
PodsMetricStatus metric current
ResourceMetricSource name! target
ResourceMetricStatus name! current
`,
  'batch-v1': `
CronJob metadata spec status
CronJobSpec schedule! startingDeadlineSeconds! concurrencyPolicy suspend! jobTemplate successfulJobsHistoryLimit! failedJobsHistoryLimit! timeZone!
CronJobStatus active 4:lastScheduleTime lastSuccessfulTime
Job metadata spec status
JobCondition type! status! lastProbeTime lastTransitionTime reason message
JobSpec parallelism! completions! activeDeadlineSeconds! selector manualSelector! template backoffLimit! ttlSecondsAfterFinished! completionMode! suspend! podFailurePolicy backoffLimitPerIndex! maxFailedIndexes! podReplacementPolicy! managedBy! successPolicy
JobStatus conditions startTime completionTime active succeeded failed completedIndexes uncountedTerminatedPods ready! failedIndexes! terminating!
JobTemplateSpec metadata spec
PodFailurePolicy rules
PodFailurePolicyOnExitCodesRequirement containerName! operator! values
PodFailurePolicyOnPodConditionsPattern type! status!
PodFailurePolicyRule action! onExitCodes onPodConditions
SuccessPolicy rules
SuccessPolicyRule succeededIndexes! succeededCount!
UncountedTerminatedPods succeeded failed
`,
  'certificates-v1': `
CertificateSigningRequest metadata spec status
CertificateSigningRequestCondition type! reason message lastUpdateTime lastTransitionTime status!
CertificateSigningRequestSpec request! username uid groups usages extra signerName! expirationSeconds!
CertificateSigningRequestStatus conditions certificate
`,
  'coordination-v1': `
Lease metadata spec
LeaseSpec holderIdentity! leaseDurationSeconds! acquireTime~ renewTime~ leaseTransitions! strategy! preferredHolder!
`,
  'core-v1': `
AWSElasticBlockStoreVolumeSource volumeID! fsType partition readOnly
Affinity nodeAffinity podAffinity podAntiAffinity
AppArmorProfile type! localhostProfile!
AttachedVolume name! devicePath!
AzureDiskVolumeSource diskName! diskURI! cachingMode! fsType! readOnly! kind!
AzureFilePersistentVolumeSource secretName! shareName! readOnly secretNamespace!
AzureFileVolumeSource secretName! shareName! readOnly
Binding metadata target
CSIPersistentVolumeSource driver! volumeHandle! readOnly fsType volumeAttributes controllerPublishSecretRef nodeStageSecretRef nodePublishSecretRef controllerExpandSecretRef nodeExpandSecretRef
CSIVolumeSource driver! readOnly! fsType! volumeAttributes nodePublishSecretRef
Capabilities add drop
CephFSPersistentVolumeSource monitors path user secretFile secretRef readOnly
CephFSVolumeSource monitors path user secretFile secretRef readOnly
CinderPersistentVolumeSource volumeID! fsType readOnly secretRef
CinderVolumeSource volumeID! fsType readOnly secretRef
ClientIPConfig timeoutSeconds!
ClusterTrustBundleProjection name! signerName! labelSelector path! optional!
ComponentCondition type! status! message error
ComponentStatus metadata conditions
ConfigMap metadata data binaryData immutable!
ConfigMapEnvSource >LocalObjectReference optional!
ConfigMapKeySelector >LocalObjectReference key! optional!
ConfigMapNodeConfigSource namespace! name! uid resourceVersion kubeletConfigKey!
ConfigMapProjection >LocalObjectReference items 4:optional!
ConfigMapVolumeSource >LocalObjectReference items defaultMode! optional!
Container name! image command args workingDir ports env resources volumeMounts livenessProbe readinessProbe lifecycle terminationMessagePath imagePullPolicy securityContext stdin stdinOnce tty envFrom terminationMessagePolicy volumeDevices startupProbe resizePolicy restartPolicy! restartPolicyRules
ContainerExtendedResourceRequest containerName! resourceName! requestName!
ContainerImage names sizeBytes
ContainerPort name hostPort containerPort! protocol hostIP
ContainerResizePolicy resourceName! restartPolicy!
ContainerRestartRule action exitCodes
ContainerRestartRuleOnExitCodes operator values
ContainerState waiting running terminated
ContainerStateRunning startedAt
ContainerStateTerminated exitCode! signal reason message startedAt finishedAt containerID
ContainerStateWaiting reason message
ContainerStatus name! state lastState ready! restartCount! image! imageID! containerID started! allocatedResources resources volumeMounts user allocatedResourcesStatus stopSignal!
ContainerUser linux
DaemonEndpoint Port!
DownwardAPIProjection items
DownwardAPIVolumeFile path! fieldRef resourceFieldRef mode!
DownwardAPIVolumeSource items defaultMode!
EmptyDirVolumeSource medium sizeLimit
EndpointAddress ip! targetRef hostname nodeName!
EndpointPort name port! protocol appProtocol!
EndpointSubset addresses notReadyAddresses ports
Endpoints metadata subsets
EnvFromSource prefix configMapRef secretRef
EnvVar name! value valueFrom
EnvVarSource fieldRef resourceFieldRef configMapKeyRef secretKeyRef fileKeyRef
EphemeralContainer >EphemeralContainerCommon targetContainerName
EphemeralContainerCommon name! image command args workingDir ports env resources volumeMounts livenessProbe readinessProbe lifecycle terminationMessagePath imagePullPolicy securityContext stdin stdinOnce tty envFrom terminationMessagePolicy volumeDevices startupProbe resizePolicy restartPolicy! restartPolicyRules
EphemeralVolumeSource volumeClaimTemplate
Event metadata involvedObject reason message source firstTimestamp lastTimestamp count type eventTime~ series action related reportingComponent! reportingInstance!
EventSeries count lastObservedTime~
EventSource component host
ExecAction command
FCVolumeSource targetWWNs lun! fsType readOnly wwids
FileKeySelector volumeName! path! key! optional!
FlexPersistentVolumeSource driver! fsType secretRef readOnly options
FlexVolumeSource driver! fsType secretRef readOnly options
FlockerVolumeSource datasetName datasetUUID
GCEPersistentDiskVolumeSource pdName! fsType partition readOnly
GRPCAction port! service!
GitRepoVolumeSource repository! revision directory
GlusterfsPersistentVolumeSource endpoints! path! readOnly endpointsNamespace!
GlusterfsVolumeSource endpoints! path! readOnly
HTTPGetAction path port host scheme httpHeaders
HTTPHeader name! value!
HostAlias ip! hostnames
HostIP ip!
HostPathVolumeSource path! type!
ISCSIPersistentVolumeSource targetPortal! iqn! lun! iscsiInterface fsType readOnly portals chapAuthDiscovery 10:secretRef chapAuthSession initiatorName!
ISCSIVolumeSource targetPortal! iqn! lun! iscsiInterface fsType readOnly portals chapAuthDiscovery 10:secretRef chapAuthSession initiatorName!
ImageVolumeSource reference pullPolicy
KeyToPath key! path! mode!
Lifecycle postStart preStop stopSignal!
LifecycleHandler exec httpGet tcpSocket sleep
LimitRange metadata spec
LimitRangeItem type! max min default defaultRequest maxLimitRequestRatio
LimitRangeSpec limits
LinuxContainerUser uid! gid! supplementalGroups
LoadBalancerIngress ip hostname ipMode! ports
LoadBalancerStatus ingress
LocalObjectReference name
LocalVolumeSource path! fsType!
ModifyVolumeStatus targetVolumeAttributesClassName status!
NFSVolumeSource server! path! readOnly
Namespace metadata spec status
NamespaceCondition type! status! 4:lastTransitionTime reason message
NamespaceSpec finalizers
NamespaceStatus phase conditions
Node metadata spec status
NodeAddress type! address!
NodeAffinity requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution
NodeCondition type! status! lastHeartbeatTime lastTransitionTime reason message
NodeConfigSource 2:configMap
NodeConfigStatus assigned active lastKnownGood error
NodeDaemonEndpoints kubeletEndpoint
NodeFeatures supplementalGroupsPolicy!
NodeRuntimeHandler name! features
NodeRuntimeHandlerFeatures recursiveReadOnlyMounts! userNamespaces!
NodeSelector nodeSelectorTerms
NodeSelectorRequirement key! operator! values
NodeSelectorTerm matchExpressions matchFields
NodeSpec podCIDR externalID providerID unschedulable taints configSource podCIDRs
NodeStatus capacity allocatable phase conditions addresses daemonEndpoints nodeInfo images volumesInUse volumesAttached config runtimeHandlers features declaredFeatures
NodeSwapStatus capacity!
NodeSystemInfo machineID! systemUUID! bootID! kernelVersion! osImage! containerRuntimeVersion! kubeletVersion! kubeProxyVersion! operatingSystem! architecture! swap
ObjectFieldSelector apiVersion fieldPath!
ObjectReference kind namespace name uid apiVersion resourceVersion fieldPath
PersistentVolume metadata spec status
PersistentVolumeClaim metadata spec status
PersistentVolumeClaimCondition type! status! lastProbeTime lastTransitionTime reason message
PersistentVolumeClaimSpec accessModes resources volumeName selector storageClassName! volumeMode! dataSource dataSourceRef volumeAttributesClassName!
PersistentVolumeClaimStatus phase accessModes capacity conditions allocatedResources 7:allocatedResourceStatuses currentVolumeAttributesClassName! modifyVolumeStatus
PersistentVolumeClaimTemplate metadata spec
PersistentVolumeClaimVolumeSource claimName! readOnly
PersistentVolumeSource gcePersistentDisk awsElasticBlockStore hostPath glusterfs nfs rbd iscsi cinder cephfs fc flocker flexVolume azureFile vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO local storageos csi
PersistentVolumeSpec capacity >PersistentVolumeSource accessModes claimRef persistentVolumeReclaimPolicy storageClassName mountOptions volumeMode! nodeAffinity volumeAttributesClassName!
PersistentVolumeStatus phase message reason lastPhaseTransitionTime
PhotonPersistentDiskVolumeSource pdID! fsType
Pod metadata spec status
PodAffinity requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution
PodAffinityTerm labelSelector namespaces topologyKey! namespaceSelector matchLabelKeys mismatchLabelKeys
PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution
PodCertificateProjection signerName keyType maxExpirationSeconds! credentialBundlePath keyPath certificateChainPath userAnnotations
PodCondition type! status! lastProbeTime lastTransitionTime reason message observedGeneration
PodDNSConfig nameservers searches options
PodDNSConfigOption name value!
PodExtendedResourceClaimStatus requestMappings resourceClaimName!
PodIP ip!
PodOS name!
PodReadinessGate conditionType!
PodResourceClaim name! 3:resourceClaimName! resourceClaimTemplateName!
PodResourceClaimStatus name! resourceClaimName!
PodSchedulingGate name!
PodSecurityContext seLinuxOptions runAsUser! runAsNonRoot! supplementalGroups fsGroup! runAsGroup! sysctls windowsOptions fsGroupChangePolicy! seccompProfile appArmorProfile supplementalGroupsPolicy! seLinuxChangePolicy!
PodSpec volumes containers restartPolicy terminationGracePeriodSeconds! activeDeadlineSeconds! dnsPolicy nodeSelector serviceAccountName serviceAccount nodeName hostNetwork hostPID hostIPC securityContext imagePullSecrets hostname subdomain affinity schedulerName initContainers automountServiceAccountToken! tolerations hostAliases priorityClassName priority! dnsConfig shareProcessNamespace! readinessGates runtimeClassName! enableServiceLinks! preemptionPolicy! overhead topologySpreadConstraints ephemeralContainers setHostnameAsFQDN! os hostUsers! schedulingGates resourceClaims resources hostnameOverride! workloadRef
PodStatus phase conditions message reason hostIP podIP startTime containerStatuses qosClass initContainerStatuses nominatedNodeName podIPs ephemeralContainerStatuses resize resourceClaimStatuses hostIPs observedGeneration extendedResourceClaimStatus allocatedResources resources
PodTemplate metadata template
PodTemplateSpec metadata spec
PortStatus port! protocol! error!
PortworxVolumeSource volumeID! fsType readOnly
PreferredSchedulingTerm weight! preference
Probe >ProbeHandler initialDelaySeconds timeoutSeconds periodSeconds successThreshold failureThreshold terminationGracePeriodSeconds!
ProbeHandler exec httpGet tcpSocket grpc
ProjectedVolumeSource sources defaultMode!
QuobyteVolumeSource registry! volume! readOnly user group tenant
RBDPersistentVolumeSource monitors image! fsType pool user keyring secretRef readOnly
RBDVolumeSource monitors image! fsType pool user keyring secretRef readOnly
ReplicationController metadata spec status
ReplicationControllerCondition type! status! lastTransitionTime reason message
ReplicationControllerSpec replicas! selector template minReadySeconds
ReplicationControllerStatus replicas! fullyLabeledReplicas observedGeneration readyReplicas availableReplicas conditions
ResourceClaim name! request
ResourceFieldSelector containerName resource! divisor
ResourceHealth resourceID! health
ResourceQuota metadata spec status
ResourceQuotaSpec hard scopes scopeSelector
ResourceQuotaStatus hard used
ResourceRequirements limits requests claims
ResourceStatus name! resources
SELinuxOptions user role type level
ScaleIOPersistentVolumeSource gateway! system! secretRef sslEnabled protectionDomain storagePool storageMode volumeName fsType readOnly
ScaleIOVolumeSource gateway! system! secretRef sslEnabled protectionDomain storagePool storageMode volumeName fsType readOnly
ScopeSelector matchExpressions
ScopedResourceSelectorRequirement scopeName! operator! values
SeccompProfile type! localhostProfile!
Secret metadata data type stringData immutable!
SecretEnvSource >LocalObjectReference optional!
SecretKeySelector >LocalObjectReference key! optional!
SecretProjection >LocalObjectReference items 4:optional!
SecretReference name namespace
SecretVolumeSource secretName items defaultMode! optional!
SecurityContext capabilities privileged! seLinuxOptions runAsUser! runAsNonRoot! readOnlyRootFilesystem! allowPrivilegeEscalation! runAsGroup! procMount! windowsOptions seccompProfile appArmorProfile
Service metadata spec status
ServiceAccount metadata secrets imagePullSecrets automountServiceAccountToken!
ServiceAccountTokenProjection audience expirationSeconds! path!
ServicePort name protocol port! targetPort nodePort appProtocol!
ServiceSpec ports selector clusterIP type externalIPs 7:sessionAffinity loadBalancerIP loadBalancerSourceRanges externalName externalTrafficPolicy healthCheckNodePort publishNotReadyAddresses sessionAffinityConfig 17:ipFamilyPolicy! clusterIPs ipFamilies allocateLoadBalancerNodePorts! loadBalancerClass! internalTrafficPolicy! trafficDistribution!
ServiceStatus loadBalancer conditions
SessionAffinityConfig clientIP
SleepAction seconds!
StorageOSPersistentVolumeSource volumeName volumeNamespace fsType readOnly secretRef
StorageOSVolumeSource volumeName volumeNamespace fsType readOnly secretRef
Sysctl name! value!
TCPSocketAction port host
Taint key! value effect! timeAdded
Toleration key operator value effect tolerationSeconds!
TopologySelectorLabelRequirement key! values
TopologySelectorTerm matchLabelExpressions
TopologySpreadConstraint maxSkew! topologyKey! whenUnsatisfiable! labelSelector minDomains! nodeAffinityPolicy! nodeTaintsPolicy! matchLabelKeys
TypedLocalObjectReference apiGroup! kind! name!
TypedObjectReference apiGroup! kind! name! namespace!
Volume name! >VolumeSource
VolumeDevice name! devicePath!
VolumeMount name! readOnly mountPath! subPath mountPropagation! subPathExpr recursiveReadOnly!
VolumeMountStatus name! mountPath! readOnly recursiveReadOnly!
VolumeNodeAffinity required
VolumeProjection secret downwardAPI configMap serviceAccountToken clusterTrustBundle podCertificate
VolumeResourceRequirements limits requests
VolumeSource hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs persistentVolumeClaim rbd flexVolume cinder cephfs flocker downwardAPI fc azureFile configMap vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO projected storageos csi ephemeral image
VsphereVirtualDiskVolumeSource volumePath! fsType storagePolicyName storagePolicyID
WeightedPodAffinityTerm weight! podAffinityTerm
WindowsSecurityContextOptions gmsaCredentialSpecName! gmsaCredentialSpec! runAsUserName! hostProcess!
WorkloadReference name! podGroup! podGroupReplicaKey
`,
  'discovery-v1': `
Endpoint addresses conditions hostname! targetRef deprecatedTopology nodeName! zone! hints
EndpointConditions ready! serving! terminating!
EndpointHints forZones forNodes
EndpointPort name! protocol! port! appProtocol!
EndpointSlice metadata endpoints ports addressType!
ForNode name!
ForZone name!
`,
  'events-v1': `
Event metadata eventTime~ series reportingController reportingInstance action reason regarding related note type deprecatedSource deprecatedFirstTimestamp deprecatedLastTimestamp deprecatedCount
EventSeries count! lastObservedTime~
`,
  'meta-v1': `
APIResource name! namespaced! kind! verbs shortNames singularName! categories group version storageVersionHash
Condition type! status! observedGeneration lastTransitionTime reason! message!
DeleteOptions gracePeriodSeconds! preconditions orphanDependents! propagationPolicy! dryRun ignoreStoreReadErrorWithClusterBreakingPotential!
FieldSelectorRequirement key! operator! values
LabelSelector matchLabels matchExpressions
LabelSelectorRequirement key! operator! values
ListMeta selfLink resourceVersion continue remainingItemCount!
ManagedFieldsEntry manager operation apiVersion time 6:fieldsType fieldsV1 subresource
ObjectMeta name generateName namespace selfLink uid resourceVersion generation creationTimestamp deletionTimestamp deletionGracePeriodSeconds! labels annotations ownerReferences finalizers 17:managedFields
OwnerReference kind! 3:name! uid! apiVersion! controller! blockOwnerDeletion!
Preconditions uid! resourceVersion!
Status metadata status message reason details code
StatusCause reason message field
StatusDetails name group kind causes retryAfterSeconds uid
`,
  'networking-v1': `
HTTPIngressPath path backend pathType!
HTTPIngressRuleValue paths
IPAddress metadata spec
IPAddressSpec parentRef
IPBlock cidr! except
Ingress metadata spec status
IngressBackend 3:resource service
IngressClass metadata spec
IngressClassParametersReference apiGroup! kind! name! scope! namespace!
IngressClassSpec controller parameters
IngressLoadBalancerIngress ip hostname 4:ports
IngressLoadBalancerStatus ingress
IngressPortStatus port! protocol! error!
IngressRule host >IngressRuleValue
IngressRuleValue http
IngressServiceBackend name! port
IngressSpec defaultBackend tls rules ingressClassName!
IngressStatus loadBalancer
IngressTLS hosts secretName
NetworkPolicy metadata spec
NetworkPolicyEgressRule ports to
NetworkPolicyIngressRule ports from
NetworkPolicyPeer podSelector namespaceSelector ipBlock
NetworkPolicyPort protocol! port endPort!
NetworkPolicySpec podSelector ingress egress policyTypes
ParentReference group resource namespace name
ServiceBackendPort name number
ServiceCIDR metadata spec status
ServiceCIDRSpec cidrs
ServiceCIDRStatus conditions
`,
  'node-v1': `
Overhead podFixed
RuntimeClass metadata handler! overhead scheduling
Scheduling nodeSelector tolerations
`,
  'policy-v1': `
Eviction metadata deleteOptions
PodDisruptionBudget metadata spec status
PodDisruptionBudgetSpec minAvailable selector maxUnavailable unhealthyPodEvictionPolicy!
PodDisruptionBudgetStatus observedGeneration disruptedPods disruptionsAllowed! currentHealthy! desiredHealthy! expectedPods! conditions
`,
  'rbac-v1': `
AggregationRule clusterRoleSelectors
ClusterRole metadata rules aggregationRule
ClusterRoleBinding metadata subjects roleRef
PolicyRule verbs apiGroups resources resourceNames nonResourceURLs
Role metadata rules
RoleBinding metadata subjects roleRef
RoleRef apiGroup! kind! name!
Subject kind! apiGroup name! namespace
`,
  'scheduling-v1': `
PriorityClass metadata value! globalDefault description preemptionPolicy!
`,
  'storage-v1': `
CSIDriver metadata spec
CSIDriverSpec attachRequired! podInfoOnMount! volumeLifecycleModes storageCapacity! fsGroupPolicy! tokenRequests requiresRepublish! seLinuxMount! nodeAllocatableUpdatePeriodSeconds! serviceAccountTokenInSecrets!
CSINode metadata spec
CSINodeDriver name! nodeID! topologyKeys allocatable
CSINodeSpec drivers
CSIStorageCapacity metadata nodeTopology storageClassName! capacity maximumVolumeSize
StorageClass metadata provisioner! parameters reclaimPolicy! mountOptions allowVolumeExpansion! volumeBindingMode! allowedTopologies
TokenRequest audience! expirationSeconds!
VolumeAttachment metadata spec status
VolumeAttachmentSource persistentVolumeName! inlineVolumeSpec
VolumeAttachmentSpec attacher! source nodeName!
VolumeAttachmentStatus attached! attachmentMetadata attachError detachError
VolumeAttributesClass metadata driverName! parameters
VolumeError time message errorCode!
VolumeNodeResources count!
`,
};
