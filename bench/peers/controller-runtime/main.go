// Controller-runtime programs of the same shape as the benchmark's own subjects, to compare with:
//
//	-shape cache     a cache of every ConfigMap, managed fields stripped, and nothing else
//	-shape operator  a manager with leader election, metrics and probes, and one controller that looks at every ConfigMap
//	-shape sync      an operator that keeps copies of ConfigMaps in other namespaces
//
// Each prints one JSON line when it is done, or ready, and then waits for its standard input to close.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func main() {
	shape := flag.String("shape", "cache", "cache, operator or sync")
	objects := flag.Int64("objects", 0, "how many reconciles an operator waits for")
	inFlight := flag.Int("in-flight", 32, "how many copies are written at once")
	strip := flag.Bool("strip", false, "strip managed fields from the cache of the sync shape")
	// controller-runtime itself adds -kubeconfig.
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	config, err := ctrl.GetConfig()
	if err != nil {
		fail(err)
	}
	// Ended by standard input, by which the harness also tells that it is gone.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	switch *shape {
	case "cache":
		err = runCache(ctx, config)
	case "operator":
		err = runOperator(ctx, config, *objects)
	case "sync":
		err = runSync(ctx, config, *inFlight, *strip)
	default:
		err = fmt.Errorf("there is no shape %q", *shape)
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func cacheOptions() cache.Options {
	return cache.Options{ByObject: map[client.Object]cache.ByObject{
		&corev1.ConfigMap{}: {Transform: cache.TransformStripManagedFields()},
	}}
}

func runCache(ctx context.Context, config *rest.Config) error {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	// From here on the time counts, as in the other subjects: discovery and the first connection are part of a cold sync.
	start := time.Now()
	options := cacheOptions()
	options.Scheme = scheme
	configMaps, err := cache.New(config, options)
	if err != nil {
		return err
	}
	stopped := make(chan error, 1)
	go func() { stopped <- configMaps.Start(ctx) }()
	informer, err := configMaps.GetInformer(ctx, &corev1.ConfigMap{})
	if err != nil {
		return err
	}
	if !toolscache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("the cache did not sync: %w", ctx.Err())
	}
	elapsed := time.Since(start)
	shared, ok := informer.(toolscache.SharedIndexInformer)
	if !ok {
		return fmt.Errorf("the informer is a %T, which has no store to count", informer)
	}
	if err := reportSync(elapsed, len(shared.GetStore().ListKeys())); err != nil {
		return err
	}
	return <-stopped
}

// looker reads each object from the cache, as any reconciler begins, and does nothing about it.
type looker struct {
	client.Client
	seen    atomic.Int64
	wanted  int64
	reached chan struct{}
}

func (l *looker) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var object corev1.ConfigMap
	if err := l.Get(ctx, request.NamespacedName, &object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if l.seen.Add(1) == l.wanted {
		close(l.reached)
	}
	return reconcile.Result{}, nil
}

func runOperator(ctx context.Context, config *rest.Config, objects int64) error {
	// The scheme that a scaffolded operator has.
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	start := time.Now()
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cacheOptions(),
		Metrics:                       metricsserver.Options{BindAddress: "127.0.0.1:0"},
		HealthProbeBindAddress:        "127.0.0.1:0",
		LeaderElection:                true,
		LeaderElectionID:              "bench-controller-runtime",
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	all := &looker{Client: manager.GetClient(), wanted: objects, reached: make(chan struct{})}
	if err := ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Complete(all); err != nil {
		return err
	}
	stopped := make(chan error, 1)
	go func() { stopped <- manager.Start(ctx) }()
	select {
	case <-all.reached:
	case err := <-stopped:
		return fmt.Errorf("the manager ended before it had seen %d objects: %w", objects, err)
	}
	if err := reportSync(time.Since(start), int(all.seen.Load())); err != nil {
		return err
	}
	return <-stopped
}

func reportSync(elapsed time.Duration, objects int) error {
	return report(map[string]any{"syncMs": float64(elapsed.Microseconds()) / 1000, "objects": objects})
}

func report(values map[string]any) error {
	line, err := json.Marshal(values)
	if err != nil {
		return err
	}
	_, err = fmt.Println(string(line))
	return err
}
