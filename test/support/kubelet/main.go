// This program runs the device manager of kubelet, with its registration server, in a given folder. It reads one JSON
// request per line from standard input and writes one JSON response per line to standard output, and ends with its input.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	_ "unsafe" // for go:linkname

	cadvisorapi "github.com/google/cadvisor/info/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/containermap"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
)

// The exported constructor uses the fixed path of a node, which tests must not touch.
//
//go:linkname newManagerImpl k8s.io/kubernetes/pkg/kubelet/cm/devicemanager.newManagerImpl
func newManagerImpl(klog.Logger, string, []cadvisorapi.Node, topologymanager.Store) (*devicemanager.ManagerImpl, error)

type request struct {
	ID       int    `json:"id"`
	Do       string `json:"do"`
	Pod      string `json:"pod"`
	Resource string `json:"resource"`
}

type response struct {
	ID          int              `json:"id"`
	Error       string           `json:"error,omitempty"`
	Capacity    map[string]int64 `json:"capacity,omitempty"`
	Allocatable map[string]int64 `json:"allocatable,omitempty"`
	Devices     []device         `json:"devices,omitempty"`
}

type device struct {
	HostPath      string `json:"hostPath"`
	ContainerPath string `json:"containerPath"`
	Permissions   string `json:"permissions"`
}

// kubelet holds the pods that were admitted, because the device manager asks for them.
type kubelet struct {
	manager *devicemanager.ManagerImpl
	pods    map[string]*v1.Pod
}

// allSourcesReady makes the device manager release the devices of pods that ended.
type allSourcesReady struct{}

func (allSourcesReady) AddSource(string) {}
func (allSourcesReady) AllReady() bool   { return true }

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(folder string) error {
	logger := klog.Background()
	socket := filepath.Join(folder, "kubelet.sock")
	manager, err := newManagerImpl(logger, socket, nil, topologymanager.NewFakeManager())
	if err != nil {
		return err
	}
	k := &kubelet{manager: manager, pods: map[string]*v1.Pod{}}
	if err := manager.Start(logger, k.activePods, allSourcesReady{}, containermap.NewContainerMap(), sets.New[string]()); err != nil {
		return err
	}
	fmt.Println(`{"ready":true}`)
	output := json.NewEncoder(os.Stdout)
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		var asked request
		if err := json.Unmarshal(input.Bytes(), &asked); err != nil {
			return err
		}
		answer, err := k.handle(asked)
		if err != nil {
			answer.Error = err.Error()
		}
		answer.ID = asked.ID
		if err := output.Encode(answer); err != nil {
			return err
		}
	}
	return manager.Stop(logger)
}

func (k *kubelet) handle(asked request) (response, error) {
	switch asked.Do {
	case "resources":
		capacity, allocatable, _ := k.manager.GetCapacity()
		return response{Capacity: counts(capacity), Allocatable: counts(allocatable)}, nil
	case "admit":
		return k.admit(asked.Pod, asked.Resource)
	case "restartContainer":
		return k.devices(k.pods[asked.Pod])
	case "endPod":
		delete(k.pods, asked.Pod)
		k.manager.UpdateAllocatedDevices()
		return response{}, nil
	}
	return response{}, fmt.Errorf("unknown request %q", asked.Do)
}

// admit does what kubelet does with devices when it admits a pod and starts its container.
func (k *kubelet) admit(uid, name string) (response, error) {
	one := v1.ResourceList{v1.ResourceName(name): resource.MustParse("1")}
	container := v1.Container{Name: "main", Resources: v1.ResourceRequirements{Limits: one, Requests: one}}
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: uid, Namespace: "default", UID: types.UID(uid)},
		Spec:       v1.PodSpec{Containers: []v1.Container{container}},
	}
	k.pods[uid] = pod
	if err := k.manager.Allocate(pod, &container); err != nil {
		delete(k.pods, uid)
		return response{}, err
	}
	return k.devices(pod)
}

// devices returns the devices that kubelet passes to the container runtime for each start of the container.
func (k *kubelet) devices(pod *v1.Pod) (response, error) {
	options, err := k.manager.GetDeviceRunContainerOptions(context.Background(), pod, &pod.Spec.Containers[0])
	if err != nil || options == nil {
		return response{}, err
	}
	found := []device{}
	for _, each := range options.Devices {
		found = append(found, device{each.PathOnHost, each.PathInContainer, each.Permissions})
	}
	return response{Devices: found}, nil
}

func (k *kubelet) activePods() []*v1.Pod {
	pods := []*v1.Pod{}
	for _, pod := range k.pods {
		pods = append(pods, pod)
	}
	return pods
}

func counts(list v1.ResourceList) map[string]int64 {
	found := map[string]int64{}
	for name, quantity := range list {
		found[string(name)] = quantity.Value()
	}
	return found
}
