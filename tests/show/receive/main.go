// SPDX-License-Identifier: Apache-2.0
// receive runs the OTLP receiver of the OpenTelemetry Collector on a free port of loopback, prints "at HOST:PORT", and then
// a line of JSON for each request that it accepts: totals of profiles by function, values of metrics, bodies of logs.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

var lock sync.Mutex

func print(kind string, data any) {
	lock.Lock()
	defer lock.Unlock()
	json.NewEncoder(os.Stdout).Encode(map[string]any{kind: data})
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// functions returns the total of each function: a stack counts once for each of its functions.
func functions(d pprofile.Profiles) map[string]int64 {
	dict, totals := d.Dictionary(), map[string]int64{}
	for _, r := range d.ResourceProfiles().All() {
		for _, s := range r.ScopeProfiles().All() {
			for _, p := range s.Profiles().All() {
				for _, sample := range p.Samples().All() {
					seen := map[string]bool{}
					stack := dict.StackTable().At(int(sample.StackIndex()))
					for _, l := range stack.LocationIndices().All() {
						for _, line := range dict.LocationTable().At(int(l)).Lines().All() {
							f := dict.FunctionTable().At(int(line.FunctionIndex()))
							seen[dict.StringTable().At(int(f.NameStrindex()))] = true
						}
					}
					for name := range seen {
						totals[name] += sample.Values().At(0)
					}
				}
			}
		}
	}
	return totals
}

func metrics(d pmetric.Metrics) map[string]int64 {
	values := map[string]int64{}
	for _, r := range d.ResourceMetrics().All() {
		for _, s := range r.ScopeMetrics().All() {
			for _, m := range s.Metrics().All() {
				switch m.Type() {
				case pmetric.MetricTypeSum:
					values[m.Name()] += m.Sum().DataPoints().At(0).IntValue()
				case pmetric.MetricTypeGauge:
					values[m.Name()] += m.Gauge().DataPoints().At(0).IntValue()
				case pmetric.MetricTypeHistogram:
					values[m.Name()] += int64(m.Histogram().DataPoints().At(0).Count())
				}
			}
		}
	}
	return values
}

func main() {
	ctx, factory := context.Background(), otlpreceiver.NewFactory()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	at := l.Addr().String()
	l.Close()
	config := factory.CreateDefaultConfig()
	check(confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{"http": map[string]any{"endpoint": at}}}).Unmarshal(config))
	set := receiver.Settings{ID: component.NewID(factory.Type()), TelemetrySettings: componenttest.NewNopTelemetrySettings()}

	toProfiles, _ := xconsumer.NewProfiles(func(_ context.Context, d pprofile.Profiles) error { print("profiles", functions(d)); return nil })
	toMetrics, _ := consumer.NewMetrics(func(_ context.Context, d pmetric.Metrics) error { print("metrics", metrics(d)); return nil })
	toLogs, _ := consumer.NewLogs(func(_ context.Context, d plog.Logs) error {
		bodies := []string{}
		for _, r := range d.ResourceLogs().All() {
			for _, s := range r.ScopeLogs().All() {
				for _, l := range s.LogRecords().All() {
					bodies = append(bodies, l.Body().Str())
				}
			}
		}
		print("logs", bodies)
		return nil
	})
	profiles, err := factory.(xreceiver.Factory).CreateProfiles(ctx, set, config, toProfiles)
	check(err)
	metric, err := factory.CreateMetrics(ctx, set, config, toMetrics)
	check(err)
	logs, err := factory.CreateLogs(ctx, set, config, toLogs)
	check(err)
	for _, c := range []component.Component{profiles, metric, logs} {
		check(c.Start(ctx, componenttest.NewNopHost()))
	}
	fmt.Println("at " + at)
	select {}
}
