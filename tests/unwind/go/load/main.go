// SPDX-License-Identifier: Apache-2.0

// load - an HTTP server that computes, sorts and writes JSON, and profiles itself with
// runtime/pprof:
//
//	load ADDRESS PROFILE SECONDS
package main

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"os"
	"regexp"
	"runtime/pprof"
	"sort"
	"strconv"
	"strings"
	"time"
)

type item struct {
	Name   string
	Price  float64
	Tags   []string
	Nested map[string]int
}

var words = regexp.MustCompile(`[a-z]+[0-9]`)
var page = template.Must(template.New("page").Parse(
	`<ul>{{range .}}<li>{{.Name}}: {{printf "%.2f" .Price}} {{range .Tags}}<b>{{.}}</b>{{end}}</li>{{end}}</ul>`))

func items(n int) []item {
	list := make([]item, n)
	for i := range list {
		list[i] = item{"item" + strconv.Itoa(i*7919%n), float64(i) * 1.5,
			strings.Fields("red green blue"), map[string]int{"a": i, "b": i * i}}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

func serveJSON(w http.ResponseWriter, r *http.Request) {
	data, _ := json.Marshal(items(60))
	var back []item
	json.Unmarshal(data, &back)
	w.Write(data)
}

func servePage(w http.ResponseWriter, r *http.Request) {
	page.Execute(w, items(40))
}

func serveText(w http.ResponseWriter, r *http.Request) {
	text := strings.Repeat("some words1 and more2 words ", 50)
	fmt.Fprintln(w, len(words.FindAllString(text, -1)))
}

func main() {
	seconds, _ := strconv.Atoi(os.Args[3])
	http.HandleFunc("/json", serveJSON)
	http.HandleFunc("/page", servePage)
	http.HandleFunc("/text", serveText)
	go http.ListenAndServe(os.Args[1], nil)
	file, _ := os.Create(os.Args[2])
	time.Sleep(time.Second)
	pprof.StartCPUProfile(file)
	time.Sleep(time.Duration(seconds) * time.Second)
	pprof.StopCPUProfile()
	file.Close()
}
