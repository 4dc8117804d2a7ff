package main

import (
	v1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The part of the kind that a small operator needs, as kubebuilder would lay it out. It reads the same objects as ours.

var syncGroupVersion = schema.GroupVersion{Group: "sync.bowline.dev", Version: "v1"}

type ConfigMapSyncSpec struct {
	SourceNamespace     string            `json:"sourceNamespace"`
	ConfigMapName       string            `json:"configMapName"`
	DestinationSelector *v1.LabelSelector `json:"destinationSelector,omitempty"`
	TargetName          string            `json:"targetName,omitempty"`
}

type ConfigMapSyncStatus struct {
	ObservedGeneration int64          `json:"observedGeneration,omitempty"`
	SyncedCount        int64          `json:"syncedCount,omitempty"`
	TotalCount         int64          `json:"totalCount,omitempty"`
	Conditions         []v1.Condition `json:"conditions,omitempty"`
}

type ConfigMapSync struct {
	v1.TypeMeta   `json:",inline"`
	v1.ObjectMeta `json:"metadata,omitempty"`
	Spec          ConfigMapSyncSpec   `json:"spec,omitempty"`
	Status        ConfigMapSyncStatus `json:"status,omitempty"`
}

type ConfigMapSyncList struct {
	v1.TypeMeta `json:",inline"`
	v1.ListMeta `json:"metadata,omitempty"`
	Items       []ConfigMapSync `json:"items"`
}

func addConfigMapSyncToScheme(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(syncGroupVersion, &ConfigMapSync{}, &ConfigMapSyncList{})
	v1.AddToGroupVersion(scheme, syncGroupVersion)
}

func (in *ConfigMapSync) DeepCopyInto(out *ConfigMapSync) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.DestinationSelector = in.Spec.DestinationSelector.DeepCopy()
	out.Status.Conditions = nil
	for _, condition := range in.Status.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, *condition.DeepCopy())
	}
}

func (in *ConfigMapSync) DeepCopy() *ConfigMapSync {
	out := new(ConfigMapSync)
	in.DeepCopyInto(out)
	return out
}

func (in *ConfigMapSync) DeepCopyObject() runtime.Object { return in.DeepCopy() }

func (in *ConfigMapSyncList) DeepCopyObject() runtime.Object {
	out := &ConfigMapSyncList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]ConfigMapSync, len(in.Items))
	for i := range in.Items {
		in.Items[i].DeepCopyInto(&out.Items[i])
	}
	return out
}
