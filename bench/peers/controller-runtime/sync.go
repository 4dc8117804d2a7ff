package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	syncNamespaceLabel = "bench.bowline.dev/sync-namespace"
	syncNameLabel      = "bench.bowline.dev/sync-name"
)

// syncer keeps one copy of a source in every namespace that a selector names. It is what a Go developer gets with little
// code: everything is read from the manager's cache, which therefore holds every ConfigMap of the cluster, and the copies
// are written by a bounded pool. It does less than ours: no finalizer, no events, no drift policies, no webhook.
type syncer struct {
	client.Client
	inFlight int
}

func (s *syncer) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var sync ConfigMapSync
	if err := s.Get(ctx, request.NamespacedName, &sync); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var source corev1.ConfigMap
	sourceKey := types.NamespacedName{Namespace: sync.Spec.SourceNamespace, Name: sync.Spec.ConfigMapName}
	if err := s.Get(ctx, sourceKey, &source); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	selector, err := metav1.LabelSelectorAsSelector(sync.Spec.DestinationSelector)
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	var namespaces corev1.NamespaceList
	if err := s.List(ctx, &namespaces, client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return reconcile.Result{}, err
	}
	var synced atomic.Int64
	var group errgroup.Group
	group.SetLimit(s.inFlight)
	for i := range namespaces.Items {
		namespace := namespaces.Items[i].Name
		group.Go(func() error {
			if err := s.copyTo(ctx, namespace, &sync, &source); err != nil {
				return err
			}
			synced.Add(1)
			return nil
		})
	}
	failure := group.Wait()
	if err := s.writeStatus(ctx, &sync, synced.Load(), int64(len(namespaces.Items))); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, failure
}

func (s *syncer) copyTo(ctx context.Context, namespace string, sync *ConfigMapSync, source *corev1.ConfigMap) error {
	target := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: sync.Spec.TargetName}}
	_, err := controllerutil.CreateOrUpdate(ctx, s.Client, &target, func() error {
		if target.ResourceVersion != "" && target.Labels[syncNameLabel] != sync.Name {
			return fmt.Errorf("%s/%s exists and is not ours", target.Namespace, target.Name)
		}
		target.Labels = map[string]string{
			"app.kubernetes.io/managed-by": "bench-peer",
			syncNamespaceLabel:             sync.Namespace,
			syncNameLabel:                  sync.Name,
		}
		target.Annotations = map[string]string{"bench.bowline.dev/source": source.Namespace + "/" + source.Name}
		target.Data = source.Data
		target.BinaryData = source.BinaryData
		return nil
	})
	return err
}

func (s *syncer) writeStatus(ctx context.Context, sync *ConfigMapSync, synced, total int64) error {
	changed := sync.DeepCopy()
	changed.Status.ObservedGeneration = sync.Generation
	changed.Status.SyncedCount = synced
	changed.Status.TotalCount = total
	ready := metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Synced", ObservedGeneration: sync.Generation,
		Message: fmt.Sprintf("%d of %d copies are as they should be", synced, total),
	}
	if synced < total {
		ready.Status, ready.Reason = metav1.ConditionFalse, "SyncFailed"
	}
	meta.SetStatusCondition(&changed.Status.Conditions, ready)
	return s.Status().Patch(ctx, changed, client.MergeFrom(sync))
}

// requestsFor names the syncs that an object is the source or a copy of.
func (s *syncer) requestsFor(ctx context.Context, object client.Object) []reconcile.Request {
	if name := object.GetLabels()[syncNameLabel]; name != "" {
		key := types.NamespacedName{Namespace: object.GetLabels()[syncNamespaceLabel], Name: name}
		return []reconcile.Request{{NamespacedName: key}}
	}
	return s.requests(ctx, func(sync *ConfigMapSync) bool {
		return sync.Spec.SourceNamespace == object.GetNamespace() && sync.Spec.ConfigMapName == object.GetName()
	})
}

func (s *syncer) allRequests(ctx context.Context, _ client.Object) []reconcile.Request {
	return s.requests(ctx, func(*ConfigMapSync) bool { return true })
}

func (s *syncer) requests(ctx context.Context, matches func(*ConfigMapSync) bool) []reconcile.Request {
	var syncs ConfigMapSyncList
	if err := s.List(ctx, &syncs); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range syncs.Items {
		if matches(&syncs.Items[i]) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&syncs.Items[i])})
		}
	}
	return requests
}

func runSync(ctx context.Context, config *rest.Config, inFlight int, strip bool) error {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	addConfigMapSyncToScheme(scheme)
	// No client rate limit. It is controller-runtime's default by now; client-go's own, five requests a second, would be all
	// that is measured.
	config.QPS = -1
	options := cache.Options{}
	if strip {
		options = cacheOptions()
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         options,
		Metrics:                       metricsserver.Options{BindAddress: "127.0.0.1:0"},
		HealthProbeBindAddress:        "127.0.0.1:0",
		LeaderElection:                true,
		LeaderElectionID:              "bench-controller-runtime-sync",
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	s := &syncer{Client: manager.GetClient(), inFlight: inFlight}
	err = ctrl.NewControllerManagedBy(manager).
		For(&ConfigMapSync{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(s.requestsFor)).
		Watches(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(s.allRequests)).
		Complete(s)
	if err != nil {
		return err
	}
	stopped := make(chan error, 1)
	go func() { stopped <- manager.Start(ctx) }()
	select {
	case <-manager.Elected():
	case err := <-stopped:
		return fmt.Errorf("the manager ended before it was elected: %w", err)
	}
	if !manager.GetCache().WaitForCacheSync(ctx) {
		return fmt.Errorf("the cache did not sync: %w", ctx.Err())
	}
	if err := report(map[string]any{"ready": true}); err != nil {
		return err
	}
	return <-stopped
}
