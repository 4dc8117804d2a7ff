// A controller-runtime program of the same shape as the benchmark's other subjects: it fills a cache with every
// ConfigMap, managed fields stripped, prints one JSON line and waits for its standard input to close.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig")
	flag.Parse()
	if err := run(*kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()

	// From here on the clock runs, as in the other subjects: discovery and the first connection are part of a cold sync.
	start := time.Now()
	configMaps, err := cache.New(config, cache.Options{
		Scheme: scheme,
		ByObject: map[client.Object]cache.ByObject{
			&corev1.ConfigMap{}: {Transform: cache.TransformStripManagedFields()},
		},
	})
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
	line, err := json.Marshal(map[string]any{
		"syncMs":  float64(elapsed.Microseconds()) / 1000,
		"objects": len(shared.GetStore().ListKeys()),
	})
	if err != nil {
		return err
	}
	fmt.Println(string(line))

	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	cancel()
	return <-stopped
}
